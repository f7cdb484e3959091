// What style sheets cannot do: names for the arrows of the contents, and folds that open to be printed.
document.addEventListener("DOMContentLoaded", () => {
  for (const arrow of document.querySelectorAll(".toctree-toggle")) {
    const link = arrow.closest("li")?.querySelector("a");
    arrow.closest("summary")?.setAttribute("aria-label", `Pages of ${link?.textContent.trim()}`);
  }
});
let opened = [];
addEventListener("beforeprint", () => {
  opened = [...document.querySelectorAll("article details.entry:not([open]), article details.used-on:not([open])")];
  opened.forEach(fold => { fold.open = true; });
});
addEventListener("afterprint", () => opened.forEach(fold => { fold.open = false; }));
