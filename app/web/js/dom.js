// Elements without a framework: h("button.primary", { onclick: save }, "Save").

const SVG = "http://www.w3.org/2000/svg";

export function h(selector, ...rest) {
  const [tag, ...classes] = selector.split(".");
  return build(document.createElement(tag || "div"), classes, rest);
}

export function s(selector, ...rest) {
  const [tag, ...classes] = selector.split(".");
  return build(document.createElementNS(SVG, tag), classes, rest);
}

function build(element, classes, rest) {
  if (classes.length) element.setAttribute("class", classes.join(" "));
  const [first] = rest;
  const hasProperties = first && typeof first === "object" && !Array.isArray(first) && !(first instanceof Node);
  if (hasProperties) assign(element, rest.shift());
  element.append(
    ...rest.flat(Number.POSITIVE_INFINITY).filter((child) => child !== null && child !== undefined && child !== false),
  );
  return element;
}

function assign(element, properties) {
  for (const [name, value] of Object.entries(properties)) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (name === "class") element.classList.add(...value.split(" ").filter(Boolean));
    else if (name === "value" || name === "checked" || name === "disabled") element[name] = value;
    else element.setAttribute(name, value === true ? "" : value);
  }
}

export function fill(element, ...children) {
  element.replaceChildren(
    ...children
      .flat(Number.POSITIVE_INFINITY)
      .filter((child) => child !== null && child !== undefined && child !== false),
  );
  return element;
}

// Fills an element only when its facts have changed: a button must not vanish between press and release.
export function settled(element) {
  let shown = null;
  return (facts, make) => {
    const now = JSON.stringify(facts);
    if (now === shown) return;
    shown = now;
    fill(element, [make()]);
  };
}

// Runs at most once a frame, however often it is asked for.
export function framed(work) {
  let waiting = 0;
  return () => {
    if (!waiting)
      waiting = requestAnimationFrame(() => {
        waiting = 0;
        work();
      });
  };
}

export function delayed(work, milliseconds) {
  let timer = 0;
  return (...args) => {
    clearTimeout(timer);
    timer = setTimeout(() => work(...args), milliseconds);
  };
}
