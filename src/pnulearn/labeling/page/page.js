"use strict";
// Shows one row at a time, with the current estimates beside it.
const at = id => document.getElementById(id);
const REASONS = {
  random: "Drawn at random: such rows represent the whole table.",
  margin: "Chosen because the model is unsure about it.",
  risk_change: "Chosen because its label is expected to change the estimated risk most.",
  diversity: "Chosen because it is unlike the rows labelled so far.",
};
let start = null, shown = null, waiting = false, stuck = false, lastSaid = "";

// Every tab is a separate annotator; after a reload it gets its pending row back.
const who = sessionStorage.getItem("who") || crypto.randomUUID();
sessionStorage.setItem("who", who);

async function ask(path, body) {
  const options = body === undefined ? {} : {method: "POST", headers: {"Content-Type": "application/json"}, body: JSON.stringify({who, ...body})};
  let response;
  try {
    response = await fetch(`api/${path}`, options);
  } catch {
    throw new Error("The server does not answer. Your labels are safe: start `pnulearn label` again, then open its new address.");
  }
  const told = await response.json();
  if (!response.ok) throw Object.assign(new Error(told.trouble), {status: response.status});
  return told;
}

function complain(error) {
  at("trouble").textContent = error ? error.message : "";
  at("trouble").hidden = !error;
}

function say(words) {
  if (words !== lastSaid) at("said").textContent = lastSaid = words;
}

async function act(path, body, earlier) {
  if (waiting) return;
  waiting = true;
  at("card").classList.add("leaving");
  try {
    const told = await ask(path, body);
    show(told, earlier);
    stuck = Boolean(told.trouble);
    complain(stuck ? new Error(told.trouble) : null);
  } catch (error) {
    if (error.status === 409) show(await ask("next", {}));  // somebody else was faster
    else complain(error);
  } finally {
    waiting = false;
    at("card").classList.remove("leaving");
  }
  refreshSoon(stuck ? 3000 : 250);
  listAnswers();
}

function answer(change) {
  if (shown) act("answer", {draw: shown.draw, ...change});
}

function show(told, earlier) {
  shown = told.row;
  at("card").hidden = !shown;
  at("done").hidden = Boolean(shown || told.trouble);
  for (const button of document.querySelectorAll("#classes button, #skip, #unknown")) button.disabled = !shown;
  at("undo").disabled = told.answers === 0;
  showCounts(told.counts);
  if (!shown) return say(told.trouble || "No row is left.");
  showRow(shown, start.columns);
  at("question").textContent = `${start.label}: which class is row ${shown.row + 1}?`;
  at("reason").textContent = REASONS[shown.reason] || `Chosen by ${shown.reason}.`;
  if (earlier) at("reason").replaceChildren("The answer was “", words(earlier), "”. Answer once more to keep or to change it.");
  const cells = shown.cells.map((cell, k) => `${start.columns[k].name}: ${cell.missing ? "missing" : cell.text}`);
  say(`Row ${shown.row + 1}. ${earlier ? `The answer was ${earlier}. ` : ""}${cells.slice(0, 12).join(". ")}`);
  window.scrollTo(0, 0);
}

function showCounts(counts) {
  const most = Math.max(1, ...counts);
  at("counts").replaceChildren(...counts.map((count, k) => {
    const node = make("div", "measure");
    node.append(words(start.classes[k].name), make("span", "number", count));
    const svg = draw("svg", {viewBox: "0 0 300 8", width: "100%", height: 8, "aria-hidden": "true", preserveAspectRatio: "none"});
    draw("rect", {x: 0, y: 0, height: 8, width: 300 * count / most, class: "here"}, svg);
    node.append(svg);
    return node;
  }));
}

function showStanding(now) {
  const sure = `${Math.round(100 * start.confidence)} %`;
  at("progress").textContent = `${now.answers} answers, ${now.left} of ${start.n_rows} rows left`;
  at("lag").textContent = now.answers > now.seen
    ? `The estimates take ${now.seen} of ${now.answers} answers into account; the rest follow in a moment.` : "";
  showCounts(now.counts);
  at("rest").textContent = [now.unknown ? `${now.unknown} don’t know` : "", now.waiting ? `${now.waiting} put off` : ""].filter(Boolean).join(", ");
  const error = now.error;
  at("error").textContent = error
    ? `${now.model ? "The model errs" : "Always answering with the most frequent class errs"} on about ${percent(error.value)} of all rows: between ${percent(error.low)} and ${percent(error.high)}, with ${sure} confidence, however often you look.`
    : now.judging ? "No estimate yet." : "No row is drawn at random, so the error cannot be estimated.";
  at("meaning").textContent = now.meaning;
  at("meaning").parentElement.hidden = !now.meaning;
  at("chart").replaceChildren(drawCurve(now.history, now.goal));
  at("legend").hidden = now.history.every(point => point[0] < 5);
  at("goal-legend").hidden = !at("chart").querySelector(".goal");
  at("prior").replaceChildren(...now.prior.map((share, k) => {
    const node = make("div", "measure");
    node.append(words(start.classes[k].name));
    node.append(make("span", "number", share ? `${percent(share.value, 0)} (${percent(share.low, 0)} to ${percent(share.high, 0)})` : "not known"));
    if (share) node.append(drawShare(share));
    return node;
  }));
  at("verdict").textContent = verdict(now);
  at("verdict").className = now.enough ? "enough" : "";
  at("forecast").textContent = error && now.after_ten !== null
    ? `The error is known to within ± ${percent((error.high - error.low) / 2)} now, after ten more labels to about ± ${percent(now.after_ten)}.` : "";
  if (document.activeElement !== at("goal")) at("goal").value = +(100 * now.goal).toFixed(2);
  showMixture(now.mixture);
  complain(now.trouble ? new Error(`The model could not be fitted: ${now.trouble}`) : null);
  if (now.enough) say("Enough: the goal is reached.");
}

function verdict(now) {
  if (!now.error) return "Label a few rows to begin.";
  if (now.enough) return "Enough. The goal is reached.";
  if (now.more === "early") return "How many labels are needed is said after 20 of them.";
  if (now.more === null) return "Labelling all rows would not reach this goal: choose a wider interval.";
  return `About ${rounded(now.more)} more labels until the goal is reached.`;
}

// Two digits are all that a forecast is good for.
function rounded(count) {
  const unit = 10 ** Math.max(0, Math.floor(Math.log10(Math.max(count, 1))) - 1);
  return Math.round(count / unit) * unit;
}

function excerpt(cells) {
  const node = make("span", "note");
  cells.forEach((text, k) => node.append(k ? ", " : "", words(text)));
  return node;
}

// Earlier answers, the latest ones first; a click shows the row again.
let most = 20;
async function listAnswers() {
  if (!at("earlier").open) return;
  try {
    const told = await ask("answers", {find: at("find").value, most});
    at("found").textContent = told.n_found ? `${told.n_found} answers${told.n_found > told.answers.length ? `, the latest ${told.answers.length} shown` : ""}` : "No answers found.";
    const items = told.answers.map(one => {
      const item = make("li"), button = make("button");
      button.type = "button";
      button.append(make("span", "number", `Row ${one.row + 1}`), words(one.label || "don’t know"), excerpt(one.cells));
      button.addEventListener("click", () => act("undo", {draw: one.draw}, one.label || "don’t know"));
      item.append(button);
      return item;
    });
    if (told.n_found > told.answers.length && most < 500) {
      const item = make("li"), button = make("button", "", "Show more");
      button.type = "button";
      button.addEventListener("click", () => { most = Math.min(500, 2 * most); listAnswers(); });
      item.append(button);
      items.push(item);
    }
    at("answered").replaceChildren(...items);
  } catch (error) {
    complain(error);
  }
}

function showMixture(mixture) {
  if (at("mixture").contains(document.activeElement)) return;
  at("mixture").replaceChildren(...start.strategies.map(name => {
    const label = make("label", "", name.replaceAll("_", " "));
    const input = make("input");
    Object.assign(input, {type: "number", min: name === "random" ? 10 : 0, max: 100, step: 5, value: Math.round(100 * (mixture[name] || 0)), name});
    input.addEventListener("change", setMixture);
    label.append(input);
    return label;
  }));
}

async function setMixture() {
  const shares = [...at("mixture").querySelectorAll("input")].map(input => [input.name, Math.max(0, Number(input.value)) / 100]);
  await change({mixture: Object.fromEntries(shares.filter(([, share]) => share > 0))});
}

async function change(what) {
  try {
    showStanding(await ask("set", what));
    complain(null);
  } catch (error) {
    complain(error);
  }
}

let timer = null;
function refreshSoon(pause = 250) {
  clearTimeout(timer);
  timer = setTimeout(refresh, pause);
}

async function refresh() {
  try {
    const now = await ask("progress");
    if (stuck) return act("next", {});  // the answer was kept, and the next row could not be drawn
    showStanding(now);
    refreshSoon(now.busy ? 400 : 3000);
  } catch (error) {
    complain(error);
    refreshSoon(5000);
  }
}

function onKey(event) {
  if (event.ctrlKey || event.metaKey || event.altKey || event.target.closest("input, textarea, select")) return;
  const key = event.key.toLowerCase();
  const place = start.classes.findIndex(one => one.keys.includes(key));
  if (place >= 0) answer({do: "label", label: place});
  else if (key === "s") answer({do: "skip"});
  else if (key === "d") answer({do: "dont_know"});
  else if (key === "u" || key === "backspace") act("undo", {});
  else return;
  event.preventDefault();
}

async function begin() {
  start = await ask("start");
  document.title = `${start.label} – ${start.title}`;
  at("title").replaceChildren(words(start.label), " in ", words(start.title));
  at("classes").replaceChildren(...start.classes.map((one, place) => {
    const button = make("button");
    button.append(words(one.name));
    button.type = "button";
    button.setAttribute("aria-keyshortcuts", one.keys.join(" "));
    if (one.keys.length) button.append(" ", make("kbd", "", one.keys[one.keys.length - 1]));
    button.addEventListener("click", () => answer({do: "label", label: place}));
    return button;
  }));
  at("skip").addEventListener("click", () => answer({do: "skip"}));
  at("unknown").addEventListener("click", () => answer({do: "dont_know"}));
  at("undo").addEventListener("click", () => act("undo", {}));
  at("goal").addEventListener("change", () => change({goal: Number(at("goal").value) / 100}));
  at("earlier").addEventListener("toggle", listAnswers);
  at("find").addEventListener("input", listAnswers);
  document.addEventListener("keydown", onKey);
  await act("next", {});
}

begin().catch(complain);
