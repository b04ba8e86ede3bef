// Compares two runs of the list. All texts become text nodes; nothing is parsed as HTML.
"use strict";

const runs = JSON.parse(document.getElementById("data").textContent);
const section = document.getElementById("comparison");
const rows = [...document.querySelectorAll(".runs tbody tr")];
let chosen = [];

const make = (tag, text, ...classes) => {
  const element = document.createElement(tag);
  if (text !== undefined) element.textContent = text;
  element.classList.add(...classes);
  return element;
};
const figure = (value) => typeof value === "number" ? String(Number(value.toFixed(2))) : "–";

// A line of the table: a figure of both runs, and the difference, coloured where more is better (or worse).
const line = (name, before, after, better) => {
  const row = make("tr");
  const known = typeof before === "number" && typeof after === "number";
  const change = known ? Number((after - before).toFixed(2)) : undefined;
  const kind = !better || !change ? [] : [change * better > 0 ? "better" : "worse"];
  row.append(
    make("th", name),
    make("td", figure(before), "number"),
    make("td", figure(after), "number"),
    make("td", change === undefined ? "–" : (change > 0 ? "+" : "") + figure(change), "number", ...kind),
  );
  return row;
};

const table = (title, one, other, lines) => {
  const made = make("table");
  const head = make("tr");
  head.append(make("th", title), make("th", one, "number"), make("th", other, "number"), make("th", "Change", "number"));
  const top = make("thead");
  top.append(head);
  const body = make("tbody");
  body.append(...lines);
  made.append(top, body);
  return made;
};

const list = (title, texts) => {
  if (!texts.length) return [];
  const items = make("ul");
  items.append(...texts.map((text) => make("li", text)));
  return [make("h3", title), items];
};

const only = (texts, others) => texts.filter((text) => !others.includes(text));

const interval = ([low, high]) => typeof low === "number" && typeof high === "number"
  ? `95 %: ${low.toFixed(0)} to ${high.toFixed(0)}` : "no interval";

const FEWEST_TASKS = 6; // as `fewest_tasks` in concord_evaluator/statistics.py
const POWER_QUANTILE = 0.8416;

// The chance that |T| <= t, for whole degrees of freedom (Abramowitz and Stegun, 26.7.3 and 26.7.4).
const chanceWithin = (t, degrees) => {
  const angle = Math.atan(t / Math.sqrt(degrees)), odd = degrees % 2, square = Math.cos(angle) ** 2;
  let term = odd ? Math.cos(angle) : 1, sum = degrees === 1 ? 0 : term;
  for (let n = odd ? 3 : 2; n <= degrees - 2; n += 2) sum += term *= (n - 1) / n * square;
  return odd ? 2 / Math.PI * (angle + Math.sin(angle) * sum) : Math.sin(angle) * sum;
};
const studentsT = (degrees) => {
  let low = 0, high = 100;
  for (let step = 0; step < 60; step++) {
    const middle = (low + high) / 2;
    if (chanceWithin(middle, degrees) < 0.95) low = middle; else high = middle;
  }
  return high;
};

// What `concord compare` says of the same means: the difference over shared tasks, its interval at 95 %, and the verdict.
const difference = (before, after) => {
  const shared = Object.keys(before).filter((task) => task in after), n = shared.length;
  if (n < FEWEST_TASKS) return `Too few tasks: ${n} shared, and a verdict takes at least ${FEWEST_TASKS}.`;
  const points = shared.map((task) => 100 * (after[task] - before[task]));
  const mean = points.reduce((sum, each) => sum + each, 0) / n;
  const spread = Math.sqrt(points.reduce((sum, each) => sum + (each - mean) ** 2, 0) / (n - 1));
  let low, high, detectable;
  if (spread > 1e-9) {
    const error = spread / Math.sqrt(n), t = studentsT(n - 1);
    [low, high, detectable] = [mean - t * error, mean + t * error, (t + POWER_QUANTILE) * error];
  } else {
    const unseen = 1 - 0.025 ** (1 / n);
    const ends = [(1 - unseen) * mean, mean + unseen * (100 * Math.sign(mean) - mean)].sort((one, two) => one - two);
    [low, high] = Math.abs(mean) < 1e-7 ? [-100 * unseen, 100 * unseen] : ends;
    detectable = 100 * unseen;
  }
  const verdict = low > 0 ? "Better" : high < 0 ? "Worse" : "No difference shown";
  const signed = (value) => (value > 0 ? "+" : "") + Math.max(-100, Math.min(100, value)).toFixed(1);
  const could = detectable > 100 ? "" : ` About ${detectable.toFixed(0)} points would probably be found.`;
  return `${verdict}: ${signed(mean)} points (95 %: ${signed(low)} to ${signed(high)}) over ${n} tasks.${could}`;
};

const compare = (one, other) => {
  const better = new Set(["Outcome", "Proven", "Information", "Economy", "Pass rate"]);
  const figures = one.figures.map(([name, value], i) => line(name, value, other.figures[i][1], better.has(name) ? 1 : 0));
  const tasks = [...new Set([...Object.keys(one.tasks), ...Object.keys(other.tasks)])];
  const shared = tasks.filter((task) => task in one.tasks && task in other.tasks).length;
  section.replaceChildren(
    make("h2", `${one.name} (${one.date}) → ${other.name} (${other.date})`),
    ...(one.kind === other.kind ? [make("p", difference(one.tasks, other.tasks), "verdict")] : [make("p", `The scores cannot be compared: ${one.kind} against ${other.kind}.`, "notice")]),
    ...(shared === tasks.length ? [] : [make("p", `The runs share ${shared} of ${tasks.length} tasks. Scores of different tasks cannot be compared.`, "notice")]),
    table("Figure", "Before", "After", [line("Score", one.score, other.score, 1), ...figures]),
    make("p", `Score before: ${interval(one.interval)}; after: ${interval(other.interval)}.`, "aside"),
    ...list("Causes that are gone", only(one.causes, other.causes)),
    ...list("New causes", only(other.causes, one.causes)),
    make("h3", "Scores by task"),
    table("Task", "Before", "After", tasks.map((task) => line(task, one.tasks[task], other.tasks[task], 1))),
    make("p", `Puzzle by puzzle: concord compare ${one.file} ${other.file}`, "aside"),
  );
  section.hidden = false;
  section.scrollIntoView({ block: "nearest" });
};

const choose = (row) => {
  const run = Number(row.dataset.run);
  chosen = chosen.includes(run) ? chosen.filter((each) => each !== run) : [...chosen, run].slice(-2);
  for (const each of rows) {
    const on = chosen.includes(Number(each.dataset.run));
    each.classList.toggle("chosen", on);
    each.querySelector("input").checked = on;
  }
  if (chosen.length === 2) {
    // The list has the latest run first.
    const [later, earlier] = [...chosen].sort((one, other) => one - other);
    compare(runs[earlier], runs[later]);
  } else section.hidden = true;
};

// The boxes to choose runs with are of use to this script alone.
document.querySelector(".runs thead tr").prepend(make("th"));
for (const [run, row] of rows.entries()) {
  const [cell, box] = [make("td"), make("input")];
  box.type = "checkbox";
  box.setAttribute("aria-label", `Compare run ${run + 1}`);
  row.dataset.run = run;
  cell.append(box);
  row.prepend(cell);
  row.addEventListener("click", (event) => {
    if (!event.target.closest("a")) choose(row);
  });
}
