// What style sheets cannot do: names for the arrows of the contents, cues where a box goes on, lines that break between words,
// pages that print well, meshes that keys turn.
document.addEventListener("DOMContentLoaded", () => {
  for (const arrow of document.querySelectorAll(".toctree-toggle")) {
    const link = arrow.closest("li")?.querySelector("a");
    arrow.closest("summary")?.setAttribute("aria-label", `Pages of ${link?.textContent.trim()}`);
  }
  // Tables, code and formulas that are wider than their box fade where they go on, and the keyboard reaches them.
  const cue = box => {
    const hidden = box.scrollWidth - box.clientWidth;
    box.classList.toggle("goes-on", hidden > 1 && box.scrollLeft < hidden - 1);
    if (hidden > 1 && !box.hasAttribute("tabindex")) box.tabIndex = 0;
  };
  const resized = new ResizeObserver(entries => entries.forEach(entry => cue(entry.target)));
  const watch = boxes => document.querySelectorAll(`article :is(${boxes})`).forEach(box => {
    box.addEventListener("scroll", () => cue(box), { passive: true });
    resized.observe(box);
  });
  watch("pre, .pst-scrollable-table-container, .output.text_html, .rfcore-table > div");
  // Punctuation, and the sign of a heading, stay with their formula: browsers break lines on either side of one. A wide
  // formula may need all of a line on a phone.
  const together = formula => {
    const { previousSibling: before, nextSibling: after } = formula, kept = document.createElement("span");
    const [opens] = before?.nodeType === Node.TEXT_NODE && before.data.match(/[([“]$/) || [""];
    const [closes] = after?.nodeType === Node.TEXT_NODE && after.data.match(/^[,.;:!?)\]”’'%]+/) || [""];
    const sign = after?.classList?.contains("headerlink") ? after : "";
    if (formula.offsetWidth > 200 || !(opens || closes || sign)) return;
    if (opens) before.data = before.data.slice(0, -1);
    if (closes) after.data = after.data.slice(closes.length);
    kept.style.whiteSpace = "nowrap";
    formula.before(kept);
    kept.append(opens, formula, closes, sign);
  };
  window.MathJax?.startup?.promise?.then(() => {
    watch("mjx-container[display]");
    document.querySelectorAll("article span.math").forEach(together);
  });
});

// On paper: light, what was found is open, code that was folded is not there, and a mesh is seen as it was last turned.
let opened = [], theme;
addEventListener("beforeprint", () => {
  opened = [...document.querySelectorAll("article details.entry:not([open]), article details.used-on:not([open])")];
  if (opened.length > 60) opened = [];  // the scorecard would take 290 sheets
  opened.forEach(fold => { fold.open = true; });
  theme = document.documentElement.dataset.theme;
  document.documentElement.dataset.theme = "light";
  document.querySelectorAll(".rfcore-view .js-plotly-plot").forEach(picture);
});
addEventListener("afterprint", () => {
  opened.forEach(fold => { fold.open = false; });
  document.documentElement.dataset.theme = theme;
  document.querySelectorAll(".rfcore-view .printed").forEach(canvas => canvas.remove());
});
// A WebGL canvas is empty but while it draws; printing waits for nothing, so that the copy is made at once.
function picture(view) {
  const drawn = view._fullLayout?.scene?._scene?.glplot;
  if (!drawn) return;
  drawn.redraw();
  const copy = Object.assign(document.createElement("canvas"), { width: drawn.canvas.width, height: drawn.canvas.height, className: "printed" });
  copy.getContext("2d").drawImage(drawn.canvas, 0, 0);
  view.after(copy);
}

addEventListener("load", () => {
  for (const view of document.querySelectorAll(".rfcore-view .js-plotly-plot")) {
    const eye = () => view.layout.scene.camera.eye;
    const look = to => Plotly.relayout(view, { "scene.camera.eye": to });
    // On a narrow page the camera steps back, so that the mesh fits between the sides.
    const back = (1.6 * view.clientHeight) / view.clientWidth;
    if (back >= 1.1) look({ x: back * eye().x, y: back * eye().y, z: back * eye().z });
    // It holds buttons, which an image may not.
    view.setAttribute("role", "group");
    view.setAttribute("aria-label", `${view.getAttribute("aria-label")} The arrow keys turn it.`);
    view.tabIndex = 0;
    view.addEventListener("keydown", event => {
      const [turn, rise] = { ArrowLeft: [-0.2, 0], ArrowRight: [0.2, 0], ArrowUp: [0, 0.15], ArrowDown: [0, -0.15] }[event.key] || [];
      if (turn === undefined || event.target !== view) return;
      event.preventDefault();
      const { x, y, z } = eye(), [c, s] = [Math.cos(turn), Math.sin(turn)];
      look({ x: c * x - s * y, y: s * x + c * y, z: z + rise * Math.hypot(x, y) });
    });
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
      output.textContent = `At distance ${distances[i].toFixed(2)} the error of a tight frame is ${(100 * left[i]).toFixed(0)} % of that with independent frequencies: `
        + `${m} frequencies do the work of ${times}.`;
    };
    slider.disabled = false;
    slider.addEventListener("input", show);
    show();
  }
});
// How many frequencies: three sliders over answers that the page of the guide holds.
document.addEventListener("DOMContentLoaded", () => {
  for (const block of document.querySelectorAll(".how-many")) {
    const { asked, answers } = JSON.parse(block.dataset.answers), output = block.querySelector("output");
    const sliders = [...block.querySelectorAll("input")], number = value => value.toLocaleString("en");
    const show = () => {
      const [i, j, k] = sliders.map(slider => +slider.value), [m, independent, name] = answers[i][j][k];
      const [d, distance, error] = sliders.map((slider, which) => asked[which][+slider.value]);
      [d, `${distance} lengthscales`, error].forEach((said, which) => sliders[which].setAttribute("aria-valuetext", said));
      output.textContent = `In ${d} dimensions, at distance ${distance}, an error of ${error} takes ${number(m)} frequencies (${name}), `
        + `which are ${number(2 * m)} columns; independent ones, ${number(independent)}.`;
    };
    for (const slider of sliders) {
      slider.disabled = false;
      slider.addEventListener("input", show);
    }
    show();
  }
});
// All code of a page that is folded has one switch below the title, in place of a bar for each cell.
addEventListener("DOMContentLoaded", () => {
  const folds = document.querySelectorAll("article details.hide.above-input"), title = document.querySelector("article h1");
  if (folds.length < 2 || !title) return;
  const button = Object.assign(document.createElement("button"), { type: "button", className: "code-switch" });
  const show = on => {
    button.textContent = on ? "Hide the code" : "Show all code";
    document.querySelector("article").classList.toggle("without-code", !on);
    folds.forEach(fold => { fold.open = on; });
  };
  button.addEventListener("click", () => show(button.textContent === "Show all code"));
  (document.querySelector("article .strip:has(.verdict) p") || title).append(" ", button);
  const asked = () => document.getElementById(location.hash.slice(1))?.closest("details.hide.above-input");
  show(Boolean(location.hash && asked()));
  addEventListener("hashchange", () => { if (asked()) show(true); });
});
// Tables of many rows sort by a column, where it has numbers by these; what is empty comes last.
addEventListener("DOMContentLoaded", () => {
  const number = cell => parseFloat(cell.textContent.replace(/,/g, "").replace("\u2212", "-"));
  for (const table of document.querySelectorAll(".bd-article .rfcore-numbers")) {
    const body = table.tBodies[0];
    if (!body || body.rows.length < 12) continue;
    [...table.tHead.rows[0].cells].forEach((head, k) => {
      const button = document.createElement("button");
      button.append(...head.childNodes);
      if (!button.textContent.trim()) button.textContent = "row";
      head.append(button);
      button.addEventListener("click", () => {
        const up = head.getAttribute("aria-sort") !== "ascending";
        for (const other of table.tHead.rows[0].cells) other.removeAttribute("aria-sort");
        head.setAttribute("aria-sort", up ? "ascending" : "descending");
        const compare = (a, b) => {
          const [x, y] = [number(a.cells[k]), number(b.cells[k])];
          const empty = [a, b].map(row => !row.cells[k].textContent.trim());
          if (empty[0] || empty[1]) return empty[0] - empty[1];
          const found = k && !isNaN(x) && !isNaN(y) ? x - y : a.cells[k].textContent.localeCompare(b.cells[k].textContent);
          return up ? found : -found;
        };
        body.append(...[...body.rows].sort(compare));
      });
    });
  }
});
// Below each figure, itself as a file: its panels as they stand on the page, in black ink.
addEventListener("DOMContentLoaded", () => {
  const drawn = figure => {
    const panels = [...figure.querySelectorAll(".rfcore-panels > svg")].filter(one => getComputedStyle(one).visibility !== "hidden");
    const boxes = panels.map(one => one.getBoundingClientRect());
    const [left, top] = ["left", "top"].map(side => Math.min(...boxes.map(box => box[side])));
    const [width, height] = [["right", left], ["bottom", top]].map(([side, from]) => Math.ceil(Math.max(...boxes.map(box => box[side])) - from));
    const whole = document.createElementNS("http://www.w3.org/2000/svg", "svg");
    Object.entries({ width, height, viewBox: `0 0 ${width} ${height}`, color: "#222" }).forEach(([name, value]) => whole.setAttribute(name, value));
    panels.forEach((one, i) => {
      const copy = one.cloneNode(true);
      copy.removeAttribute("style");
      const at = { x: boxes[i].left - left, y: boxes[i].top - top, width: boxes[i].width, height: boxes[i].height };
      Object.entries(at).forEach(([name, value]) => copy.setAttribute(name, value));
      whole.append(copy);
    });
    return { width, height, text: new XMLSerializer().serializeToString(whole) };
  };
  const keep = (blob, name) => {
    const link = Object.assign(document.createElement("a"), { href: URL.createObjectURL(blob), download: name });
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 1000);
  };
  const page = location.pathname.split("/").slice(-2).join("-").replace(/\.html$/, "");
  document.querySelectorAll("article figure.rfcore-figure:has(.rfcore-panels > svg)").forEach((figure, i) => {
    const saved = {
      SVG: name => keep(new Blob([drawn(figure).text], { type: "image/svg+xml" }), name),
      PNG: name => {
        const { width, height, text } = drawn(figure), image = new Image();
        const canvas = Object.assign(document.createElement("canvas"), { width: 3 * width, height: 3 * height });
        image.addEventListener("load", () => {
          const on = canvas.getContext("2d");
          on.fillStyle = "#fff";
          on.fillRect(0, 0, canvas.width, canvas.height);
          on.drawImage(image, 0, 0, canvas.width, canvas.height);
          canvas.toBlob(blob => keep(blob, name));
        });
        image.src = `data:image/svg+xml,${encodeURIComponent(text)}`;
      },
    };
    const line = Object.assign(document.createElement("p"), { className: "save-figure", textContent: "Save this figure: " });
    for (const [kind, save] of Object.entries(saved)) {
      const button = Object.assign(document.createElement("button"), { type: "button", textContent: kind });
      button.addEventListener("click", () => save(`${page}-${i + 1}.${kind.toLowerCase()}`));
      line.append(button, " ");
    }
    line.append("(MIT licence)");
    figure.append(line);
  });
});
