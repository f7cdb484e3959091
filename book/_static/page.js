// What style sheets cannot do: names for the arrows of the contents, folds that open to be printed, and cameras that step back.
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
// On a narrow page the camera of a 3D view steps back, so that the mesh fits between the sides.
addEventListener("load", () => {
  for (const view of document.querySelectorAll(".rfcore-view .js-plotly-plot")) {
    const back = (1.6 * view.clientHeight) / view.clientWidth;
    if (back < 1.1) continue;
    const { x, y, z } = view.layout.scene.camera.eye;
    Plotly.relayout(view, { "scene.camera.eye": { x: back * x, y: back * y, z: back * z } });
  }
});
// The figure of the front page: a slider moves a line over distances whose errors were computed when the book was built.
document.addEventListener("DOMContentLoaded", () => {
  for (const figure of document.querySelectorAll(".front-figure")) {
    const { distances, left, m, x, y } = JSON.parse(figure.dataset.curve);
    const slider = figure.querySelector("input"), output = figure.querySelector("output");
    const line = figure.querySelector("line.marker"), dot = figure.querySelector("circle.marker");
    const show = () => {
      const i = +slider.value, times = Number((m / left[i] ** 2).toPrecision(2)).toLocaleString("en");
      line.setAttribute("x1", x[i]);
      line.setAttribute("x2", x[i]);
      dot.setAttribute("cx", x[i]);
      dot.setAttribute("cy", y[i]);
      slider.setAttribute("aria-valuetext", `distance ${distances[i].toFixed(2)}`);
      output.textContent = `At distance ${distances[i].toFixed(2)} shells leave ${(100 * left[i]).toFixed(0)} % of the error: `
        + `${m} frequencies do the work of ${times}.`;
    };
    slider.disabled = false;
    slider.addEventListener("input", show);
    show();
  }
});
