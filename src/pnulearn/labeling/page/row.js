"use strict";
// Shows the cells of a row.

function make(name, className, text) {
  const node = document.createElement(name);
  if (className) node.className = className;
  if (text !== undefined) node.textContent = text;
  return node;
}

// A text in the direction in which it is read, whatever the page's own.
function words(text, className) {
  const node = make("bdi", className, text);
  node.dir = "auto";
  return node;
}

// A text whose addresses of web pages are links; they open beside this page and are not told where they were found.
function showText(cell) {
  const node = words("", cell.long ? "value text" : "value");
  cell.text.split(/(https?:\/\/[^\s<>"]+[^\s<>".,;:!?)\]}'])/).forEach((part, k) => {
    if (k % 2 === 0) return node.append(part);
    const link = make("a", "", part);
    Object.assign(link, {href: part, target: "_blank", rel: "noopener noreferrer"});
    node.append(link);
  });
  return node;
}

function showRow(row, columns) {
  const list = document.getElementById("cells");
  list.replaceChildren(...row.cells.map((cell, k) => {
    const pair = make("div");
    const term = make("dt");
    term.append(words(columns[k].name));
    pair.append(term, showCell(cell, columns[k], row.row, k));
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
    node.append(showText(cell));
    if (cell.value !== undefined && column.bins) {
      node.append(drawHistogram(column, cell.value));
      node.append(make("span", "note", `above ${Math.round(100 * cell.below)} % of rows`));
    } else if (cell.share) {
      node.append(make("span", "note", `${percent(cell.share, cell.share < 0.1 ? 1 : 0)} of rows`));
    }
  }
  return node;
}
