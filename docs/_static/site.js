// What is wider than the window scrolls, by the keyboard as well.
document.addEventListener("DOMContentLoaded", () => {
  for (const box of document.querySelectorAll("article pre, article .table-wrapper, article div.math")) box.tabIndex = 0;
});
