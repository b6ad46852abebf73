"use strict";
// Shows the cells of a row.

function make(name, className, text) {
  const node = document.createElement(name);
  if (className) node.className = className;
  if (text !== undefined) node.textContent = text;
  return node;
}

function showRow(row, columns) {
  const list = document.getElementById("cells");
  list.replaceChildren(...row.cells.map((cell, k) => {
    const pair = make("div");
    pair.append(make("dt", "", columns[k].name), showCell(cell, columns[k], row.row, k));
    return pair;
  }));
}

function showCell(cell, column, row, place) {
  const node = make("dd");
  if (cell.missing) {
    node.className = "missing";
    node.textContent = "missing";
  } else if (cell.picture) {
    const image = make("img");
    image.src = `picture/${row}/${place}`;
    image.alt = `Picture ${cell.text}`;
    image.addEventListener("error", () => image.replaceWith(make("span", "note", `${cell.text} cannot be shown`)));
    node.append(image);
  } else {
    node.append(make("span", cell.long ? "value text" : "value", cell.text));
    if (cell.value !== undefined && column.bins) {
      node.append(drawHistogram(column, cell.value));
      node.append(make("span", "note", `above ${Math.round(100 * cell.below)} % of rows`));
    } else if (cell.share) {
      node.append(make("span", "note", `${percent(cell.share, cell.share < 0.1 ? 1 : 0)} of rows`));
    }
  }
  return node;
}
