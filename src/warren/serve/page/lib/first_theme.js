// Before anything is painted: the theme that was chosen last, if any.
{
  let chosen = null;
  try {
    chosen = localStorage.getItem("warren-theme");
  } catch {
    // Where a browser keeps nothing, the system's theme it is.
  }
  if (chosen === "dark" || chosen === "light") document.documentElement.dataset.theme = chosen;
}
