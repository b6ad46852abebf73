"use strict";
// Drawings, built node by node: nothing from the table is ever read as markup.
const SVG = "http://www.w3.org/2000/svg";

function draw(name, attributes, parent, text) {
  const node = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) node.setAttribute(key, value);
  if (text !== undefined) node.textContent = text;
  if (parent) parent.append(node);
  return node;
}

function percent(share, digits = 1) {
  return share === null || share === undefined ? "?" : `${(100 * share).toFixed(digits)} %`;
}

function picture(width, height, description) {
  return draw("svg", {viewBox: `0 0 ${width} ${height}`, width: "100%", role: "img", "aria-label": description});
}

// A value among those of its column.
function drawHistogram(column, value) {
  const width = 150, height = 26, bar = width / column.bins.length;
  const span = column.high - column.low || 1;
  const place = Math.max(0, Math.min(column.bins.length - 1, Math.floor((value - column.low) / span * column.bins.length)));
  const svg = draw("svg", {viewBox: `0 0 ${width} ${height}`, width, height, "aria-hidden": "true"});
  column.bins.forEach((share, k) => {
    const tall = Math.max(share * (height - 4), share > 0 || k === place ? 1.5 : 0);
    draw("rect", {x: k * bar, width: Math.max(bar - 1, 1), y: height - tall, height: tall,
      class: k === place ? "here" : "bin"}, svg);
  });
  return svg;
}

// A share on the scale from 0 to 1 with its interval.
function drawShare(share) {
  const svg = draw("svg", {viewBox: "0 0 300 14", width: "100%", height: 14, "aria-hidden": "true", preserveAspectRatio: "none"});
  draw("line", {x1: 0, x2: 300, y1: 7, y2: 7, class: "grid"}, svg);
  draw("rect", {x: 300 * share.low, width: Math.max(300 * (share.high - share.low), 1), y: 3, height: 8, class: "band"}, svg);
  draw("rect", {x: 300 * share.value - 1.5, width: 3, y: 0, height: 14, class: "here"}, svg);
  return svg;
}

// The error and its interval against the number of labels, from five labels on. The interval is as narrow as the goal
// where it lies between the lines.
function drawCurve(history, goal) {
  const points = history.filter(point => point[0] >= 5);
  const width = 320, height = 190, left = 38, bottom = 32, top = 10, right = 8;
  const last = points.length ? points[points.length - 1] : null;
  const description = last
    ? `Error against number of labels: after ${last[0]} labels ${percent(last[1])}, between ${percent(last[2])} and ${percent(last[3])}.`
    : "Error against number of labels: nothing to draw before five labels.";
  const svg = picture(width, height, description);
  const most = Math.max(20, last ? last[0] : 0), highest = Math.min(1, Math.ceil(5 * Math.max(0.2, ...points.slice(1).map(point => point[3])) - 1e-9) / 5);
  const x = n => left + (width - left - right) * n / most;
  const y = share => height - bottom - (height - bottom - top) * Math.min(share, highest) / highest;
  for (const share of [0, 0.25, 0.5, 0.75, 1].map(part => part * highest)) {
    draw("line", {x1: left, x2: width - right, y1: y(share), y2: y(share), class: "grid"}, svg);
    draw("text", {x: left - 4, y: y(share) + 4, "text-anchor": "end"}, svg, percent(share, 0));
  }
  for (const n of [0, most / 2, most]) draw("text", {x: x(n), y: height - bottom + 14, "text-anchor": n === most ? "end" : "middle"}, svg, Math.round(n));
  draw("text", {x: (left + width) / 2, y: height - 3, "text-anchor": "middle"}, svg, "labels");
  if (points.length) {
    const over = points.map(point => `${x(point[0])},${y(point[3])}`), under = points.map(point => `${x(point[0])},${y(point[2])}`);
    draw("polygon", {points: [...over, ...under.reverse()].join(" "), class: "band"}, svg);
    draw("polyline", {points: points.map(point => `${x(point[0])},${y(point[1])}`).join(" "), class: "curve"}, svg);
    draw("circle", {cx: x(last[0]), cy: y(last[1]), r: 3.5, class: "here"}, svg);
    const middle = (last[2] + last[3]) / 2;
    if (goal) for (const end of [middle - goal, middle + goal]) {
      if (end >= 0 && end <= highest) draw("line", {x1: left, x2: width - right, y1: y(end), y2: y(end), class: "goal"}, svg);
    }
  }
  return svg;
}
