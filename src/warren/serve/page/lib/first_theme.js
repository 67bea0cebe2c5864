// Before anything is painted: the theme that was chosen last, if any.
{
  let chosen = null;
  try {
    chosen = localStorage.getItem("warren-theme");
  } catch {
    // Without storage, the system's theme is used.
  }
  if (chosen === "dark" || chosen === "light") document.documentElement.dataset.theme = chosen;
}
