// Lets a reader edit and run the programs of a page in it. Nothing leaves the browser.
(() => {
  const root = new URL(".", document.currentScript.src);
  const programs = [...document.querySelectorAll(".language-python code")].filter((code) =>
    /^(from|import) (scurry|pyflink)\b/m.test(code.textContent),
  );
  if (!/(quickstart|playground|patterns)\.html$/.test(location.pathname) || !programs.length) return;

  let worker = null;
  let running = null;

  function stop() {
    worker?.terminate();
    worker = null;
    running?.("stopped");
  }

  // What was loaded is there without a network, too; offline.js answers from this cache.
  async function keep(loaded) {
    if (!("serviceWorker" in navigator)) return;
    await navigator.serviceWorker.register(new URL("../offline.js", root));
    const cache = await caches.open("scurry");
    const page = performance.getEntriesByType("resource").map((each) => each.name);
    const kept = (await cache.keys()).map((request) => request.url);
    const all = new Set([location.href.replace(/#.*/, ""), ...page, ...loaded]);
    await cache.addAll([...all].filter((url) => url.startsWith(location.origin) && !kept.includes(url)));
    document.documentElement.dataset.playground = "offline";
  }

  function run(source, output, over) {
    running?.("stopped, because another program began");
    if (running) worker?.terminate(), (worker = null);
    worker ??= new Worker(new URL("worker.js", root), { type: "module" });
    output.textContent = "Python is loading ...";
    running = (text) => {
      running = null;
      if (text) output.textContent += `${text}\n`;
      over();
    };
    worker.onerror = () => (stop(), (output.textContent = "This browser cannot run it: modules in workers are needed."));
    worker.onmessage = ({ data }) => {
      if (data.began) output.textContent = "";
      if (data.text) output.textContent += data.text;
      if ("status" in data) {
        running(output.textContent || data.status ? "" : "(it has printed nothing)");
        keep(data.loaded).catch(() => {});
      }
    };
    worker.postMessage(source);
  }

  function offer(code) {
    const button = Object.assign(document.createElement("button"), { type: "button", textContent: "Run" });
    const output = Object.assign(document.createElement("pre"), { hidden: true });
    button.className = "md-button playground-run";
    output.className = "playground-output";
    output.setAttribute("role", "status");
    code.contentEditable = "plaintext-only";
    code.spellcheck = false;
    code.setAttribute("role", "textbox");
    code.setAttribute("aria-multiline", "true");
    code.setAttribute("aria-label", "Program, which can be edited");
    button.onclick = () => {
      if (button.textContent === "Stop") return stop();
      button.textContent = "Stop";
      output.hidden = false;
      run(code.textContent, output, () => (button.textContent = "Run"));
    };
    code.closest(".highlight").after(button, output);
  }

  // A site may be built without Pyodide, see `make docs`.
  fetch(new URL("pyodide-lock.json", root), { method: "HEAD" })
    .then((answer) => answer.ok && programs.forEach(offer))
    .catch(() => caches.open("scurry").then((cache) => cache.match(new URL("pyodide.mjs", root))).then((there) => there && programs.forEach(offer)));
})();
