// Niceties only: the page says everything without them.
"use strict";

const find = (selector, within = document) => [...within.querySelectorAll(selector)];

// What is folded is unfolded before one is led into it, and before it is printed.
const unfold = (element) => {
  for (let outer = element; outer; outer = outer.parentElement) {
    if (outer instanceof HTMLDetailsElement) outer.open = true;
  }
};
const unfoldTarget = () => {
  const target = document.getElementById(location.hash.slice(1));
  target?.closest(".searched")?.dispatchEvent(new Event("unfilter"));
  unfold(target);
};
addEventListener("hashchange", unfoldTarget);
unfoldTarget();

let unfolded = [];
addEventListener("beforeprint", () => {
  unfolded = find("details:not([open], .long)");
  for (const details of unfolded) details.open = true;
});
addEventListener("afterprint", () => {
  for (const details of unfolded) details.open = false;
});

// A finding with several calls can show them all at once.
const light = (rows, on) => {
  for (const row of rows) {
    const bar = document.querySelector(`a.bar[href="#${row}"]`);
    for (const element of [document.getElementById(row), bar]) element?.classList.toggle("lit", on);
  }
  for (const lanes of find(".lanes")) lanes.classList.toggle("dim", lanes.querySelector(".lit") !== null);
};

for (const steps of find(".steps")) {
  const rows = find("a", steps).map((link) => link.dataset.call);
  if (rows.length < 2) continue;
  const button = document.createElement("button");
  button.type = "button";
  button.textContent = "show all";
  button.setAttribute("aria-pressed", "false");
  button.addEventListener("click", () => {
    const on = button.getAttribute("aria-pressed") !== "true";
    for (const other of find(".steps button[aria-pressed=true]")) {
      other.setAttribute("aria-pressed", "false");
      light(find("a", other.parentElement).map((link) => link.dataset.call), false);
    }
    button.setAttribute("aria-pressed", String(on));
    light(rows, on);
    const first = document.querySelector(".lanes .lit") ?? document.getElementById(rows[0]);
    if (on) {
      unfold(first);
      first.scrollIntoView({ block: "center", behavior: "smooth" });
    }
  });
  steps.append(button);
}

// Pointing at an agent leaves only its own flows in full strength.
for (const graph of find(".graph")) {
  for (const node of find(".node", graph)) {
    const own = find(".flow, .light", graph).filter((flow) =>
      [flow.dataset.caller, flow.dataset.callee].includes(node.dataset.agent));
    const show = (on) => {
      graph.classList.toggle("dim", on && own.length > 0);
      for (const flow of own) flow.classList.toggle("lit", on);
    };
    node.addEventListener("pointerenter", () => show(true));
    node.addEventListener("pointerleave", () => show(false));
  }
}

// Long lists can be searched: a row without one of the words is hidden, and so is a fold without rows.
const FEWEST_SEARCHED = 20;
for (const list of find(".searched")) {
  const rows = find("tbody tr, .finding", list), folds = find("details", list);
  if (rows.length < FEWEST_SEARCHED) continue;
  const foldOf = (row) => folds.find((fold) => fold.contains(row));
  const texts = rows.map((row) => `${foldOf(row)?.querySelector("summary").textContent ?? ""} ${row.textContent}`.toLowerCase());
  const field = document.createElement("input"), count = document.createElement("output");
  field.type = "search";
  field.placeholder = `Filter ${rows.length} ${list.dataset.things}`;
  field.setAttribute("aria-label", field.placeholder);
  const opened = folds.filter((fold) => fold.open);
  const filter = () => {
    const words = field.value.toLowerCase().split(/\s+/).filter(Boolean);
    for (const [i, row] of rows.entries()) row.hidden = !words.every((word) => texts[i].includes(word));
    for (const fold of folds) {
      fold.hidden = !rows.some((row) => !row.hidden && fold.contains(row));
      fold.open = words.length ? !fold.hidden : opened.includes(fold);
    }
    count.textContent = words.length ? `${rows.filter((row) => !row.hidden).length} of ${rows.length}` : "";
  };
  field.addEventListener("input", filter);
  list.addEventListener("unfilter", () => {
    if (!field.value) return;
    field.value = "";
    filter();
  });
  list.prepend(field, count);
}
