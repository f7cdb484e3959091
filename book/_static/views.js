// On a narrow page the camera of a 3D view steps back, so that the mesh fits between the sides.
window.addEventListener("load", () => {
  for (const view of document.querySelectorAll(".rfcore-view .js-plotly-plot")) {
    const back = (1.6 * view.clientHeight) / view.clientWidth;
    if (back < 1.1) continue;
    const { x, y, z } = view.layout.scene.camera.eye;
    Plotly.relayout(view, { "scene.camera.eye": { x: back * x, y: back * y, z: back * z } });
  }
});
