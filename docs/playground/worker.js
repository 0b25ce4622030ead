// Runs programs in Pyodide, one after the other, off the thread of the page.
import { loadPyodide } from "./pyodide.mjs";

const here = new URL(".", import.meta.url).href;
const fetched = async (name) => (await fetch(here + name)).arrayBuffer();

async function started() {
  const files = [fetched("scurry.zip"), fetched("boot.py")];
  const pyodide = await loadPyodide({ indexURL: here });
  const [scurry, boot] = await Promise.all(files);
  pyodide.unpackArchive(scurry, "zip", { extractDir: "/lib/python3.12/site-packages" });
  const own = pyodide.globals.get("dict")();
  pyodide.runPython(new TextDecoder().decode(boot), { globals: own });
  own.get("prepare")();
  return { pyodide, own };
}

const ready = started();

onmessage = async ({ data: source }) => {
  try {
    const { pyodide, own } = await ready;
    const packages = own.get("packages")(source).toJs();
    await pyodide.loadPackage(packages, { messageCallback: () => {} });
    if (packages.includes("pyarrow")) own.get("prepare_tables")();
    postMessage({ began: true });
    const status = own.get("run")(source, 1, (text) => postMessage({ text }));
    postMessage({ status, loaded: performance.getEntriesByType("resource").map((each) => each.name) });
  } catch (error) {
    postMessage({ text: error.message, status: 1, loaded: [] });
  }
};
