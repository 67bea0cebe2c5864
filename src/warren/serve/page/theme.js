// Before anything is painted: the theme that was chosen last, if any.
{
  const chosen = localStorage.getItem("warren-theme");
  if (chosen === "dark" || chosen === "light") document.documentElement.dataset.theme = chosen;
}
