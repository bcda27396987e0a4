// Dependencies may bring releases of the project itself. One from after the base commit gives way to
// the release whose number the base's manifest has; where that was never published, to nothing. The number `tag` is
// that of the newest tag which the base reaches; without such a tag nothing is known and nothing changed.
//
//   node own-release.cjs NAME VERSION|tag [NAME VERSION|tag]...
//
// It runs on the project's own Node, which may be an old one.
const fs = require("fs"), os = require("os"), path = require("path");
const { execFileSync } = require("child_process");

const own = new Map();
for (let i = 2; i + 1 < process.argv.length; i += 2) own.set(process.argv[i], process.argv[i + 1]);

const parts = (version) => {
  const [, numbers = "", , rest = ""] = /^v?([0-9.]*)(-([^+]*))?/.exec(version) || [];
  return { numbers: numbers.split(".").map(Number), early: rest === "" ? [] : rest.split(".") };
};
const later = (one, other) => {
  const a = parts(one), b = parts(other);
  for (let i = 0; i < 3; i += 1) {
    const difference = (a.numbers[i] || 0) - (b.numbers[i] || 0);
    if (difference !== 0) return difference > 0;
  }
  if (a.early.length === 0 || b.early.length === 0) return a.early.length < b.early.length;
  for (let i = 0; i < Math.max(a.early.length, b.early.length); i += 1) {
    const [x, y] = [a.early[i], b.early[i]];
    if (x === y) continue;
    if (x === undefined || y === undefined) return y === undefined;
    const digits = /^[0-9]+$/;
    if (digits.test(x) && digits.test(y)) return Number(x) > Number(y);
    return digits.test(x) === digits.test(y) ? x > y : digits.test(y);
  }
  return false;
};

// Tags as the scan of the built environment reads them: `v1.2.3`, `name@1.2.3`; a day is no version.
const newestTag = () => {
  let text = "";
  try {
    text = execFileSync("git", ["tag", "--merged", "HEAD"], { encoding: "utf8", stdio: ["ignore", "pipe", "ignore"] });
  } catch (_) { /* no history */ }
  return text.split("\n")
    .map((tag) => /(?:^|[^0-9a-z.])v?(\d{1,4}\.\d+(?:\.\d+)?(?:-[0-9A-Za-z.-]+)?)$/i.exec(tag))
    .filter((found) => found !== null)
    .map((found) => found[1])
    .reduce((best, version) => (best === undefined || later(version, best) ? version : best), undefined);
};
for (const [name, version] of [...own]) {
  if (version !== "tag") continue;
  const tag = newestTag();
  if (tag === undefined) own.delete(name);
  else own.set(name, tag);
}

const remove = (what) => execFileSync("rm", ["-rf", "--", what]);
const folders = (folder) => fs.readdirSync(folder).filter((name) => fs.lstatSync(path.join(folder, name)).isDirectory());

let replaced = false;
const replace = (folder, name, found) => {
  const version = own.get(name);
  replaced = true;
  const work = fs.mkdtempSync(path.join(os.tmpdir(), "atlas-own-"));
  // What the later release needs lies beside it, and mostly is what the earlier one needs.
  for (const entry of fs.readdirSync(folder)) {
    if (entry !== "node_modules") remove(path.join(folder, entry));
  }
  try {
    const said = execFileSync("npm", ["pack", "--silent", `${name}@${version}`], { cwd: work, encoding: "utf8" });
    execFileSync("tar", ["-xzf", path.join(work, said.trim().split("\n").pop()), "-C", folder, "--strip-components=1"]);
    console.log(`atlas: ${name} ${found} in ${folder} is from after the base commit: ${version} instead`);
  } catch (why) {
    remove(folder);
    console.log(`atlas: ${name} ${found} in ${folder} is from after the base commit: removed`);
  } finally {
    remove(work);
  }
};

const walk = (folder) => {
  for (const name of fs.existsSync(folder) ? folders(folder) : []) {
    const full = path.join(folder, name);
    const manifest = path.join(full, "package.json");
    if (fs.existsSync(manifest)) {
      let found = {};
      try { found = JSON.parse(fs.readFileSync(manifest, "utf8")); } catch (_) { /* a fixture */ }
      if (own.has(found.name) && later(String(found.version), own.get(found.name))) {
        replace(full, found.name, found.version);
      } else {
        walk(path.join(full, "node_modules"));
      }
    } else {
      // A scope, or a folder of the package manager's own.
      walk(full);
    }
  }
};
const packages = (folder, depth) => {
  walk(path.join(folder, "node_modules"));
  for (const name of depth > 0 ? folders(folder) : []) {
    if (name !== "node_modules" && !name.startsWith(".")) packages(path.join(folder, name), depth - 1);
  }
};
packages(".", 3);
// The package manager's cache has them, too.
const { npm_config_cache: npm, YARN_GLOBAL_FOLDER: yarn } = process.env;
for (const cache of [npm && path.join(npm, "_cacache"), yarn && path.join(yarn, "cache")]) {
  if (replaced && cache) remove(cache);
}
