"""Write everything that is made, where it belongs."""

from generator.made import made

for path, text in made().items():
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
