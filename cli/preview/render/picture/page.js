"use strict";
(() => {
  const tip = document.getElementById("tip");
  const names = [["local", "Local"], ["utc", "UTC"], ["window", "Window"], ["reason", "Why"], ["before", "Before"], ["grace", "Grace"]];

  // The browser's own tooltips would cover these.
  for (const title of document.querySelectorAll("svg title")) title.remove();

  const element = (name, text) => {
    const made = document.createElement(name);
    made.textContent = text;
    return made;
  };

  const show = (stretch) => {
    const list = document.createElement("dl");
    for (const [name, label] of names) {
      if (stretch.dataset[name]) list.append(element("dt", label), element("dd", stretch.dataset[name].replace(/^before: /, "")));
    }
    tip.replaceChildren(element("strong", stretch.dataset.count), list);
    tip.hidden = false;
    const at = stretch.querySelector(".hit").getBoundingClientRect();
    const below = at.bottom + 6 + tip.offsetHeight < innerHeight;
    tip.style.left = Math.max(8, Math.min(at.left + at.width / 2 - tip.offsetWidth / 2, innerWidth - tip.offsetWidth - 8)) + "px";
    tip.style.top = Math.max(8, below ? at.bottom + 6 : at.top - 6 - tip.offsetHeight) + "px";
  };
  const hide = () => { tip.hidden = true; };

  const stretchOf = (event) => event.target.closest && event.target.closest(".stretch");
  document.addEventListener("pointerover", (event) => {
    const stretch = stretchOf(event);
    if (stretch) show(stretch);
    else if (!tip.contains(event.target)) hide();
  });
  document.addEventListener("focusin", (event) => {
    const stretch = stretchOf(event);
    if (stretch) show(stretch);
    else hide();
  });
  document.addEventListener("focusout", hide);
  addEventListener("scroll", () => {
    const stretch = document.activeElement.closest(".stretch");
    if (stretch && !tip.hidden) show(stretch);
    else hide();
  }, { passive: true });

  // One tab stop per strip: arrow keys move on from there.
  const middle = (stretch) => {
    const at = stretch.querySelector(".hit").getBoundingClientRect();
    return at.left + at.width / 2;
  };
  const neighbour = (stretch, key) => {
    const all = [...stretch.closest("svg").querySelectorAll(".stretch")];
    const i = all.indexOf(stretch);
    if (key === "ArrowLeft") return all[i - 1];
    if (key === "ArrowRight") return all[i + 1];
    if (key === "Home") return all[0];
    if (key === "End") return all[all.length - 1];
    const row = Number(stretch.dataset.row) + (key === "ArrowDown" ? 1 : -1);
    const x = middle(stretch);
    const away = (other) => Math.abs(middle(other) - x);
    return all.filter((other) => Number(other.dataset.row) === row).sort((a, b) => away(a) - away(b))[0];
  };
  document.addEventListener("keydown", (event) => {
    if (event.key === "Escape") return hide();
    const stretch = stretchOf(event);
    if (!stretch || !["ArrowLeft", "ArrowRight", "ArrowUp", "ArrowDown", "Home", "End"].includes(event.key)) return;
    event.preventDefault();
    const next = neighbour(stretch, event.key);
    if (!next) return;
    stretch.setAttribute("tabindex", "-1");
    next.setAttribute("tabindex", "0");
    next.focus();
    show(next);
  });

  const filter = document.getElementById("filter");
  const sections = [...document.querySelectorAll("section")];
  filter.form.hidden = false;
  document.querySelector(".keys").hidden = false;
  filter.form.addEventListener("submit", (event) => event.preventDefault());
  filter.addEventListener("input", () => {
    const words = filter.value.toLowerCase().split(/\s+/).filter(Boolean);
    let shown = 0;
    for (const section of sections) {
      section.hidden = !words.every((word) => section.dataset.search.includes(word));
      if (!section.hidden) shown++;
    }
    document.getElementById("none").hidden = shown > 0;
    document.getElementById("shown").textContent = words.length ? shown + " of " + sections.length : "";
  });

  addEventListener("beforeprint", () => {
    for (const details of document.querySelectorAll("details")) details.open = true;
  });
})();
