//! The files of package managers.

use crate::languages::Family;
use crate::pattern::fits;

/// A file that a package manager reads or writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PackageFile {
    /// Its name, or with a `/` its whole path; `*` stands for any text. Letters are compared without regard to ASCII case.
    pub name: &'static str,
    /// The program that it is for; of several that share a file, the one that brought it in.
    pub manager: &'static str,
    /// The languages whose packages it names.
    pub family: Family,
    /// What stands in it.
    pub role: Role,
    /// Whether packages can be installed from it before the project's sources are there: such files make up the layer of
    /// an image that commits with the same dependencies share.
    pub installs_first: bool,
}

/// What stands in a file of a package manager.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Role {
    /// A project and what it needs, with little else: a change of it is mostly one of dependencies.
    Manifest,
    /// A project, what it needs, and how it is built or checked, often as a program.
    Build,
    /// Packages, and nothing of a project.
    List,
    /// Settings of several tools, in which packages may be named too.
    Tools,
    /// Each package with the version that was chosen.
    Lock,
    /// How the manager works: where packages come from, which folders belong together.
    Settings,
    /// Which release of the language or of the manager is wanted.
    Toolchain,
    /// What the manager reads beside those: patches of packages, plugins, a module with the version.
    Beside,
}

impl Role {
    /// Whether the file says what a project needs: where a new dependency is declared.
    pub fn declares(self) -> bool {
        matches!(
            self,
            Self::Manifest | Self::Build | Self::List | Self::Tools
        )
    }

    /// Whether the file is about dependencies and about little else.
    pub fn is_about_dependencies(self) -> bool {
        matches!(self, Self::Manifest | Self::List | Self::Lock)
    }

    /// Whether such a file stands in the folder of a project and says how it is made.
    pub fn marks_project(self) -> bool {
        matches!(self, Self::Manifest | Self::Build | Self::Tools)
    }
}

impl PackageFile {
    /// Whether the file at this path is of this kind.
    pub fn fits(&self, path: &str) -> bool {
        let name = path.rsplit('/').next().unwrap_or(path);
        fits(self.name, if self.name.contains('/') { path } else { name })
    }
}

/// What is known of a file by its path: the first line of [`PACKAGE_FILES`] that fits.
pub fn package_file(path: &str) -> Option<&'static PackageFile> {
    PACKAGE_FILES.iter().find(|file| file.fits(path))
}

/// The lockfiles of a family, in the order in which one is chosen where a project has several.
pub fn lockfiles(family: Family) -> impl Iterator<Item = &'static PackageFile> {
    let locks = move |file: &&PackageFile| file.family == family && file.role == Role::Lock;
    PACKAGE_FILES.iter().filter(locks)
}

/// The files that stand in the folder of a project, without those whose names are patterns.
pub fn project_files() -> impl Iterator<Item = &'static PackageFile> {
    let marks = |file: &&PackageFile| file.role.marks_project() && !file.name.contains('*');
    PACKAGE_FILES.iter().filter(marks)
}

type Name = &'static str;

/// A file that packages are installed from before the sources are there.
const fn first(name: Name, manager: Name, family: Family, role: Role) -> PackageFile {
    PackageFile {
        name,
        manager,
        family,
        role,
        installs_first: true,
    }
}

/// A file that is read once the sources are there.
const fn later(name: Name, manager: Name, family: Family, role: Role) -> PackageFile {
    PackageFile {
        installs_first: false,
        ..first(name, manager, family, role)
    }
}

use Family::{C, DotNet, Go, Java, JavaScript, Php, Python, Ruby, Rust};
use Role::{Beside, Build, List, Lock, Manifest, Settings, Toolchain, Tools};

/// Every file of a package manager that Atlas knows, a line each. Where two lines fit, the first counts.
pub const PACKAGE_FILES: &[PackageFile] = &[
    later("CMakeLists.txt", "cmake", C, Build),
    later("conanfile.py", "conan", C, Build),
    later("conanfile.txt", "conan", C, List),
    later("meson.build", "meson", C, Build),
    later("vcpkg.json", "vcpkg", C, Manifest),
    later("*.csproj", "nuget", DotNet, Build),
    later("*.fsproj", "nuget", DotNet, Build),
    later("*.vbproj", "nuget", DotNet, Build),
    later("*.sln", "nuget", DotNet, Settings),
    later("Directory.Build.props", "nuget", DotNet, Settings),
    later("Directory.Packages.props", "nuget", DotNet, List),
    later("global.json", "nuget", DotNet, Toolchain),
    later("nuget.config", "nuget", DotNet, Settings),
    later("packages.config", "nuget", DotNet, List),
    later("packages.lock.json", "nuget", DotNet, Lock),
    first("go.mod", "go", Go, Manifest),
    first("go.sum", "go", Go, Lock),
    first("go.work", "go", Go, Settings),
    first("go.work.sum", "go", Go, Lock),
    first("build.gradle", "gradle", Java, Build),
    first("build.gradle.kts", "gradle", Java, Build),
    first("gradle.properties", "gradle", Java, Settings),
    first("libs.versions.toml", "gradle", Java, List),
    first("settings.gradle", "gradle", Java, Build),
    first("settings.gradle.kts", "gradle", Java, Build),
    later("*.gradle", "gradle", Java, Build),
    later("*.gradle.kts", "gradle", Java, Build),
    later("gradle.lockfile", "gradle", Java, Lock),
    later("gradle-wrapper.properties", "gradle", Java, Toolchain),
    first("pom.xml", "maven", Java, Build),
    first("*.mvn/*", "maven", Java, Beside),
    later("build.sbt", "sbt", Java, Build),
    first("package.json", "npm", JavaScript, Manifest),
    first("npm-shrinkwrap.json", "npm", JavaScript, Lock),
    first("package-lock.json", "npm", JavaScript, Lock),
    first(".npmrc", "npm", JavaScript, Settings),
    first("*patches/*.patch", "npm", JavaScript, Beside),
    first(".nvmrc", "nvm", JavaScript, Toolchain),
    later(".node-version", "nvm", JavaScript, Toolchain),
    first("lerna.json", "lerna", JavaScript, Settings),
    first("yarn.lock", "yarn", JavaScript, Lock),
    first(".yarnrc", "yarn", JavaScript, Settings),
    first(".yarnrc.yml", "yarn", JavaScript, Settings),
    first(".yarn/plugins/*", "yarn", JavaScript, Beside),
    first(".yarn/releases/*", "yarn", JavaScript, Beside),
    first("pnpm-lock.yaml", "pnpm", JavaScript, Lock),
    first("pnpm-workspace.yaml", "pnpm", JavaScript, Settings),
    first("pnpmfile.js", "pnpm", JavaScript, Settings),
    first(".pnpmfile.cjs", "pnpm", JavaScript, Settings),
    first("bun.lock", "bun", JavaScript, Lock),
    first("bun.lockb", "bun", JavaScript, Lock),
    first("bunfig.toml", "bun", JavaScript, Settings),
    later("deno.json", "deno", JavaScript, Manifest),
    later("deno.lock", "deno", JavaScript, Lock),
    first("composer.json", "composer", Php, Manifest),
    first("composer.lock", "composer", Php, Lock),
    first("pyproject.toml", "pip", Python, Build),
    first("*requirements*.txt", "pip", Python, List),
    first("*requirements*.in", "pip", Python, List),
    first("*requirements/*.txt", "pip", Python, List),
    first("*requirements/*.in", "pip", Python, List),
    first("constraints*.txt", "pip", Python, List),
    first("setup.py", "setuptools", Python, Build),
    first("setup.cfg", "setuptools", Python, Tools),
    first("MANIFEST.in", "setuptools", Python, Beside),
    first("__about__.py", "setuptools", Python, Beside),
    first("_version.py", "setuptools", Python, Beside),
    first("version.py", "setuptools", Python, Beside),
    first("tox.ini", "tox", Python, Tools),
    later("noxfile.py", "nox", Python, Tools),
    first("uv.lock", "uv", Python, Lock),
    first("poetry.lock", "poetry", Python, Lock),
    first("pdm.lock", "pdm", Python, Lock),
    first("requirements-dev.lock", "rye", Python, Lock),
    first("requirements.lock", "rye", Python, Lock),
    first("Pipfile", "pipenv", Python, List),
    first("Pipfile.lock", "pipenv", Python, Lock),
    later(".python-version", "pyenv", Python, Toolchain),
    later("environment.yml", "conda", Python, List),
    later("environment.yaml", "conda", Python, List),
    first("Gemfile", "bundler", Ruby, Manifest),
    first("Gemfile.lock", "bundler", Ruby, Lock),
    first("gems.rb", "bundler", Ruby, Manifest),
    first("gems.locked", "bundler", Ruby, Lock),
    first("*.gemspec", "rubygems", Ruby, Build),
    first("version.rb", "rubygems", Ruby, Beside),
    first(".ruby-version", "rbenv", Ruby, Toolchain),
    first("Cargo.toml", "cargo", Rust, Manifest),
    first("Cargo.lock", "cargo", Rust, Lock),
    first("*.cargo/config*", "cargo", Rust, Beside),
    first("rust-toolchain", "rustup", Rust, Toolchain),
    first("rust-toolchain.toml", "rustup", Rust, Toolchain),
];
