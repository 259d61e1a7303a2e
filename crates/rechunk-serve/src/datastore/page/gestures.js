// Pointers, the wheel and keys on a canvas, as moves, zooms and steps.

const KEYS = {
  ArrowLeft: (act) => act.move(60, 0), ArrowRight: (act) => act.move(-60, 0),
  ArrowUp: (act) => act.move(0, 60), ArrowDown: (act) => act.move(0, -60),
  "+": (act) => act.zoom(1.5), "=": (act) => act.zoom(1.5), "-": (act) => act.zoom(1 / 1.5),
  PageUp: (act) => act.step(1), PageDown: (act) => act.step(-1), "0": (act) => act.fit(),
  x: (act) => act.plane("yz"), y: (act) => act.plane("xz"), z: (act) => act.plane("xy"),
};

/** Has `act` done: move(dx, dy), zoom(factor, x, y), step(slices), fit(), plane(name), point(x, y). */
export function listen(canvas, act) {
  const held = new Map();
  const place = (event) => {
    const box = canvas.getBoundingClientRect();
    return [event.clientX - box.left, event.clientY - box.top];
  };
  /** The middle of the pointers, and how far they are apart. */
  const pinch = () => {
    const [[ax, ay], [bx, by]] = [...held.values()];
    return { x: (ax + bx) / 2, y: (ay + by) / 2, wide: Math.max(1, Math.hypot(ax - bx, ay - by)) };
  };
  canvas.addEventListener("pointerdown", (event) => {
    canvas.setPointerCapture(event.pointerId);
    held.set(event.pointerId, place(event));
    canvas.classList.add("held");
  });
  canvas.addEventListener("pointermove", (event) => {
    const [x, y] = place(event);
    act.point(x, y);
    if (!held.has(event.pointerId)) return;
    if (held.size === 2) {
      const before = pinch();
      held.set(event.pointerId, [x, y]);
      const after = pinch();
      act.move(after.x - before.x, after.y - before.y);
      act.zoom(after.wide / before.wide, after.x, after.y);
      return;
    }
    const [fromX, fromY] = held.get(event.pointerId);
    held.set(event.pointerId, [x, y]);
    if (held.size === 1) act.move(x - fromX, y - fromY);
  });
  const let_go = (event) => {
    held.delete(event.pointerId);
    if (!held.size) canvas.classList.remove("held");
  };
  canvas.addEventListener("pointerup", let_go);
  canvas.addEventListener("pointercancel", let_go);
  canvas.addEventListener("pointerleave", () => act.point(null));
  canvas.addEventListener(
    "wheel",
    (event) => {
      event.preventDefault();
      // Browsers turn the wheel sideways when Shift is held.
      const turned = event.deltaY || event.deltaX;
      if (event.shiftKey) act.step(-Math.sign(turned));
      else act.zoom(Math.exp(-turned * (event.deltaMode ? 0.05 : 0.002)), ...place(event));
    },
    { passive: false },
  );
  canvas.addEventListener("keydown", (event) => {
    const key = KEYS[event.key];
    if (!key || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    key(act);
  });
}
