// Runs programs in Pyodide, as the page does: node pyodide.mjs PLAYGROUND BOOT MOUNTED... < programs.jsonl
// Each line names a program and how to run it; the answer to each is a line, too. One process runs all.
import fs from "node:fs";
import path from "node:path";
import readline from "node:readline";
import { pathToFileURL } from "node:url";

const [playground, boot, ...mounted] = process.argv.slice(2).map((each) => path.resolve(each));
const { loadPyodide } = await import(pathToFileURL(path.join(playground, "pyodide.mjs")));
const answer = (content) => fs.writeSync(1, JSON.stringify(content) + "\n");

const pyodide = await loadPyodide({ indexURL: playground + "/", stdout: () => {}, stderr: () => {} });
pyodide.unpackArchive(new Uint8Array(fs.readFileSync(path.join(playground, "scurry.zip"))), "zip", {
  extractDir: pyodide.runPython("import site; site.getsitepackages()[0]"),
});
for (const directory of mounted) {
  pyodide.FS.mkdirTree(directory);
  pyodide.FS.mount(pyodide.FS.filesystems.NODEFS, { root: directory }, directory);
}
const own = pyodide.globals.get("dict")();
pyodide.runPython(fs.readFileSync(boot, "utf8"), { globals: own });
own.get("prepare")();

for await (const line of readline.createInterface({ input: process.stdin })) {
  const { program, parallelism, environment } = JSON.parse(line);
  const packages = own.get("packages")(fs.readFileSync(program, "utf8")).toJs();
  await pyodide.loadPackage(packages, { messageCallback: () => {} });
  if (packages.includes("pyarrow")) own.get("prepare_tables")();
  own.get("os").environ.update(pyodide.toPy(environment ?? {}));
  let out = "";
  let errors = "";
  const began = performance.now();
  const status = own.get("run_file")(own.get("Path")(program), parallelism, (text) => (out += text), (text) => (errors += text));
  answer({ program, parallelism, status, out, errors, seconds: (performance.now() - began) / 1000 });
}
process.exit(0);
