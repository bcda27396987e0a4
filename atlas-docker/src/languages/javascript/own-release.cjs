// Dependencies may bring releases of the project itself. One from after the base commit gives way to
// the release whose number the base's manifest has; where that was never published, to nothing.
//
//   node own-release.cjs NAME VERSION [NAME VERSION]...
const fs = require("fs"), os = require("os"), path = require("path");
const { execFileSync } = require("child_process");

const own = new Map();
for (let i = 2; i + 1 < process.argv.length; i += 2) own.set(process.argv[i], process.argv[i + 1]);

const parts = (version) => {
  const [, numbers = "", early] = /^v?([0-9.]*)(-)?/.exec(version) || [];
  return { numbers: numbers.split(".").map(Number), early: Boolean(early) };
};
const later = (one, other) => {
  const a = parts(one), b = parts(other);
  for (let i = 0; i < 3; i += 1) {
    const difference = (a.numbers[i] || 0) - (b.numbers[i] || 0);
    if (difference !== 0) return difference > 0;
  }
  return b.early && !a.early;
};

let replaced = false;
const replace = (folder, name, found) => {
  const version = own.get(name);
  replaced = true;
  const work = fs.mkdtempSync(path.join(os.tmpdir(), "atlas-own-"));
  // What the later release needs lies beside it, and mostly is what the earlier one needs.
  for (const entry of fs.readdirSync(folder)) {
    if (entry !== "node_modules") fs.rmSync(path.join(folder, entry), { recursive: true });
  }
  try {
    const said = execFileSync("npm", ["pack", "--silent", `${name}@${version}`], { cwd: work, encoding: "utf8" });
    execFileSync("tar", ["-xzf", path.join(work, said.trim().split("\n").pop()), "-C", folder, "--strip-components=1"]);
    console.log(`atlas: ${name} ${found} in ${folder} is from after the base commit: ${version} instead`);
  } catch (why) {
    fs.rmSync(folder, { recursive: true, force: true });
    console.log(`atlas: ${name} ${found} in ${folder} is from after the base commit: removed`);
  } finally {
    fs.rmSync(work, { recursive: true });
  }
};

const walk = (folder) => {
  for (const entry of fs.existsSync(folder) ? fs.readdirSync(folder, { withFileTypes: true }) : []) {
    if (!entry.isDirectory()) continue;
    const full = path.join(folder, entry.name);
    const manifest = path.join(full, "package.json");
    if (fs.existsSync(manifest)) {
      let found = {};
      try { found = JSON.parse(fs.readFileSync(manifest, "utf8")); } catch { /* a fixture */ }
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
walk("node_modules");
// The package manager's cache has them, too.
if (replaced && process.env.npm_config_cache) {
  fs.rmSync(path.join(process.env.npm_config_cache, "_cacache"), { recursive: true, force: true });
}
