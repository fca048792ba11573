"use strict";
// The page's only script: lights up premises, and searches the traces. What it shows is set as text, never as markup.
(() => {
  const SVG = "http://www.w3.org/2000/svg";
  const PAGE = 60;

  // -- a step, its premises, and the text that says it

  function light(target) {
    const trace = target.closest(".trace");
    if (!trace) return;
    const step = target.dataset.step;
    const known = trace.querySelector(`[data-step="${step}"][data-from]`);
    const premises = new Set(known && known.dataset.from ? known.dataset.from.split(" ") : []);
    for (const one of trace.querySelectorAll("[data-step]")) {
      one.classList.toggle("lit", one.dataset.step === step);
      one.classList.toggle("premise", premises.has(one.dataset.step));
    }
    for (const edge of trace.querySelectorAll(".edge")) edge.classList.toggle("lit", edge.dataset.to === step);
  }

  function darken() {
    for (const one of document.querySelectorAll(".lit, .premise")) one.classList.remove("lit", "premise");
  }

  for (const kind of ["mouseover", "focusin"]) {
    document.addEventListener(kind, (event) => {
      const step = event.target.closest("[data-step]");
      darken();
      if (step) light(step);
    });
  }

  // -- a trace as elements

  function element(tag, properties = {}, ...children) {
    const made = document.createElement(tag);
    for (const [name, value] of Object.entries(properties)) {
      if (name in made && name !== "role") made[name] = value;
      else made.setAttribute(name, value);
    }
    made.append(...children.filter((child) => child !== null && child !== ""));
    return made;
  }

  function shape(tag, attributes, ...children) {
    const made = document.createElementNS(SVG, tag);
    for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
    made.append(...children);
    return made;
  }

  function marked(parts) {
    return parts.map(([text, step]) => {
      if (step === null) return text;
      if (step === -2) return element("mark", { className: "refused", title: "the first step that does not follow" }, text);
      return step < 0 ? element("mark", { className: "idle" }, text) : element("mark", { "data-step": step }, text);
    });
  }

  function curve(from, to) {
    const [x1, y1, x2, y2] = [from.x + from.w / 2, from.y + from.h, to.x + to.w / 2, to.y];
    const middle = (y1 + y2) / 2;
    return `M${x1} ${y1}C${x1} ${middle} ${x2} ${middle} ${x2} ${y2}`;
  }

  function graph(trace) {
    const { w, h, nodes } = trace.graph;
    const svg = shape("svg", {
      class: "graph", role: "group", viewBox: `-2 -2 ${w + 4} ${h + 4}`, width: w + 4, height: h + 4,
      "aria-label": `${trace.steps.length} steps as a graph: premises above, what follows from them below`,
    });
    trace.steps.forEach((step, number) => {
      for (const parent of step.from) {
        const path = curve(nodes[parent], nodes[number]);
        const kind = `edge ${trace.steps[parent].role}`;
        svg.append(shape("path", { class: kind, "data-from": parent, "data-to": number, d: path }));
      }
    });
    trace.steps.forEach((step, number) => {
      const { x, y, w: width, h: height, lines } = nodes[number];
      const texts = lines.map((line, i) => shape("text", { x: x + width / 2, y: y + 18.5 + 14 * i }, line));
      svg.append(shape("g", {
        class: `node ${step.role}`, role: "img", tabindex: 0, "data-step": number, "data-from": step.from.join(" "),
        "aria-label": `${number + 1}: ${step.says}, ${step.because}`,
      }, shape("rect", { x, y, width, height, rx: 6 }), ...texts));
    });
    return element("div", { className: "scroll" }, svg);
  }

  function proof(trace) {
    const items = trace.steps.map((step, number) => element(
      "li", { "data-step": number, "data-from": step.from.join(" ") },
      element("code", {}, step.says), " ", element("small", {}, step.because),
    ));
    const certified = `Its certificate${trace.goal ? `, which decides ${trace.goal}` : ""}`;
    const list = element("ol", { className: "proof" }, ...items);
    const drawn = element("div", { className: "proved" }, trace.graph ? graph(trace) : null, list);
    return [element("h4", {}, trace.digest ? certified : "What of it holds"), drawn];
  }

  function said(trace) {
    if (trace.text !== null) {
      return [element("h4", {}, "What the model wrote"), element("pre", { tabIndex: 0 }, ...marked(trace.text))];
    }
    return trace.turns.map((turn) => {
      const kind = ["actor", "critic"].includes(turn.speaker) ? turn.speaker : "asked";
      const text = element("pre", { tabIndex: 0 }, turn.text);
      return element("div", { className: `turn ${kind}` }, element("h4", {}, turn.speaker), text);
    });
  }

  const rightness = (trace) => (trace.right === null ? "not known" : trace.right ? "right" : "wrong");

  function article(trace) {
    const chip = element("span", { className: `verdict ${trace.verdict}` }, trace.verdict);
    const where = `${trace.arm} · seed ${trace.seed} · round ${trace.round} · ${trace.id} · ${rightness(trace)}: answered `;
    const ending = trace.digest
      ? [`Formalisation ${trace.formalisation ?? "not stated"} · SHA-256 `, element("code", {}, trace.digest)]
      : ["The critic: ", element("code", {}, trace.reason ?? "–"), trace.feedback ? ` – ${trace.feedback}` : ""];
    const evidence = trace.evidence === null ? [] : [
      element("h4", {}, "Its certificate"), element("pre", { tabIndex: 0 }, trace.evidence),
    ];
    const options = trace.options.map((option) => element("li", {}, option));
    return element(
      "article", { className: "trace" },
      element("h3", { tabIndex: -1 }, chip, " ", trace.question),
      element("p", { className: "note" }, where, element("b", {}, `${trace.answer ?? "nothing"}`), `, gold ${trace.gold ?? "unknown"}`),
      element("p", { className: "context" }, ...marked(trace.context)),
      options.length ? element("ul", {}, ...options) : null,
      ...said(trace),
      ...(trace.steps.length ? proof(trace) : evidence),
      element("p", { className: "note" }, ...ending),
    );
  }

  // -- the browser: what is asked for stands in the address, so that a view can be kept and sent

  const data = document.getElementById("trace-data");
  if (!data) return;
  const traces = JSON.parse(data.textContent);
  const words = traces.map((trace) => JSON.stringify({ ...trace, graph: null, steps: null, key: null }).toLowerCase());
  const form = document.getElementById("filters");
  const [hits, opened, count] = ["hits", "opened", "count"].map((id) => document.getElementById(id));
  const FACETS = {
    arm: (trace) => trace.arm, round: (trace) => `${trace.round}`, verdict: (trace) => trace.verdict,
    dataset: (trace) => trace.dataset, answer: rightness,
  };
  let shown = PAGE;
  let open = null;

  for (const [name, facet] of Object.entries(FACETS)) {
    const values = [...new Set(traces.map(facet))].sort((a, b) => a.localeCompare(b, "en", { numeric: true }));
    form.elements[name].append(new Option("all", ""), ...values.map((value) => new Option(value, value)));
  }

  function found() {
    const asked = form.elements.q.value.toLowerCase().split(/\s+/).filter(Boolean);
    const wanted = Object.entries(FACETS).filter(([name]) => form.elements[name].value);
    return traces.filter((trace, i) =>
      asked.every((word) => words[i].includes(word)) &&
      wanted.every(([name, facet]) => facet(trace) === form.elements[name].value));
  }

  function hit(trace) {
    const button = element(
      "button", { type: "button", "data-key": trace.key },
      element("span", { className: `verdict ${trace.verdict}` }, trace.verdict), " ", trace.question,
      element("small", {}, `${trace.arm} · round ${trace.round} · ${rightness(trace)} · ${trace.reason ?? ""}`),
    );
    if (open && trace.key === open.key) button.setAttribute("aria-current", "true");
    return element("li", {}, button);
  }

  function list() {
    const all = found();
    count.textContent = all.length === 1 ? "1 trace" : `${all.length} traces`;
    const items = all.slice(0, shown).map(hit);
    if (all.length > shown) {
      const more = element("button", { type: "button", id: "more" }, `${all.length - shown} more`);
      items.push(element("li", {}, more));
    }
    hits.replaceChildren(...items);
  }

  function remember() {
    const state = new URLSearchParams();
    for (const name of ["q", ...Object.keys(FACETS)]) {
      if (form.elements[name].value) state.set(name, form.elements[name].value);
    }
    if (open) state.set("open", open.key);
    const fragment = state.toString();
    history.replaceState(null, "", fragment ? `#${fragment}` : "#browser");
  }

  function show(key) {
    open = traces.find((trace) => trace.key === key) ?? null;
    opened.replaceChildren(...(open ? [article(open)] : []));
    for (const button of hits.querySelectorAll("[data-key]")) {
      if (open && button.dataset.key === open.key) button.setAttribute("aria-current", "true");
      else button.removeAttribute("aria-current");
    }
  }

  function restore() {
    const state = new URLSearchParams(location.hash.slice(1));
    for (const name of ["q", ...Object.keys(FACETS)]) form.elements[name].value = state.get(name) ?? "";
    for (const name of Object.keys(FACETS)) if (form.elements[name].selectedIndex < 0) form.elements[name].value = "";
    list();
    if (state.get("open")) show(state.get("open"));
    return [...state.keys()].some((name) => name === "open" || name === "q" || name in FACETS);
  }

  function change() {
    shown = PAGE;
    list();
    remember();
  }

  form.addEventListener("input", change);
  form.addEventListener("submit", (event) => event.preventDefault());
  form.addEventListener("reset", () => setTimeout(change));
  hits.addEventListener("click", (event) => {
    const button = event.target.closest("button");
    if (!button) return;
    if (button.id === "more") {
      const next = shown;
      shown += PAGE;
      list();
      hits.children[next].firstChild.focus();
      return;
    }
    show(button.dataset.key);
    remember();
    opened.querySelector("h3").focus();
  });
  hits.addEventListener("keydown", (event) => {
    const buttons = [...hits.querySelectorAll("button")];
    const at = buttons.indexOf(document.activeElement);
    const to = { ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: buttons.length - 1 }[event.key];
    if (to === undefined || !buttons[to]) return;
    event.preventDefault();
    buttons[to].focus();
  });
  opened.addEventListener("keydown", (event) => {
    if (event.key === "Escape") (hits.querySelector("[aria-current]") ?? form.elements.q).focus();
  });
  window.addEventListener("hashchange", () => location.hash.includes("=") && restore());
  form.hidden = false;
  if (restore()) document.getElementById("browser").scrollIntoView();
})();
