//! The context from which an engine builds an image: a Dockerfile and the archive of its files.

use std::{collections::BTreeSet, fs, path::PathBuf};

use super::{
    Content, Image,
    arch::Arch,
    npm, pip,
    programs::{Build, INIT, Program, TESTS},
    rootfs::{Rootfs, USER},
    sbom::{self, Package},
    source::Source,
};
use crate::{
    languages,
    shell::{Result, git_files, root},
};

/// The folder in which the context of an image is written.
///
/// # Errors
/// The architecture of this machine is unknown.
pub(super) fn folder(image: &Image, arch: Arch) -> Result<PathBuf> {
    let contexts = format!("contexts{}", arch.suffix()?);
    Ok(super::folder().join(contexts).join(image.name))
}

/// The text of an image's Dockerfile.
///
/// # Errors
/// It can't be read.
pub(super) fn dockerfile(image: &Image) -> Result<String> {
    let path = root().join(format!("deploy/images/{}.Dockerfile", image.name));
    let text = fs::read_to_string(&path);
    text.map_err(|error| format!("could not read {}: {error}", path.display()).into())
}

/// Builds what these images hold and writes their contexts.
///
/// # Errors
/// Something can't be built.
pub(super) fn write(images: &[&Image], build: Build<'_>) -> Result {
    let source = Source::read()?;
    let programs: BTreeSet<_> = images.iter().flat_map(|image| image.programs()).collect();
    build.run(&Vec::from_iter(programs))?;
    let sboms = super::folder().join(format!("sboms{}", build.arch.suffix()?));
    fs::create_dir_all(&sboms)?;
    for image in images {
        let (mut files, mut packages) = files(image, build, &source)?;
        if image.is_bot {
            files.program("usr/local/bin/bot-init", &build.path(INIT))?;
            packages.extend(sbom::of_rust(INIT, build.arch)?);
        }
        if image.writes {
            files.folder("data", 0o755, USER);
        }
        let name = format!("bot-arena/{}", image.name);
        let list = sbom::write("container", &name, &source.revision, &packages);
        fs::write(sboms.join(format!("{}.cdx.json", image.name)), &list)?;
        files.text(sbom::PATH, list);
        let folder = folder(image, build.arch)?;
        // An engine is sent all that is in it.
        let _ = fs::remove_dir_all(&folder);
        fs::create_dir_all(&folder)?;
        files.write(&folder.join("rootfs.tar"), source.epoch)?;
        let dockerfile = filled_in(&dockerfile(image)?, &source.revision)?;
        fs::write(folder.join("Dockerfile"), dockerfile)?;
        eprintln!("{}", folder.display());
    }
    Ok(())
}

/// The files of an image, and the packages in it.
fn files(image: &Image, build: Build<'_>, source: &Source) -> Result<(Rootfs, BTreeSet<Package>)> {
    match image.content {
        Content::Rust(program, beside) => {
            let mut files = Rootfs::from_scratch();
            let mut packages = BTreeSet::new();
            let named = beside.iter().map(|beside| (beside.name, *beside));
            for (name, program) in [(image.name, program)].into_iter().chain(named) {
                let path = format!("usr/local/bin/{name}");
                let libraries = files.program(&path, &build.path(program))?;
                packages.extend(sbom::of_rust(program, build.arch)?);
                packages.extend(sbom::of_libraries(&libraries)?);
            }
            Ok((files, packages))
        }
        Content::Linked(program) => {
            let mut files = Rootfs::default();
            let path = format!("usr/local/bin/{}", image.name);
            files.file(&path, &build.path(program))?;
            Ok((files, sbom::of_rust(program, build.arch)?))
        }
        Content::Cpp(name) => {
            let mut files = Rootfs::from_scratch();
            let built = match build.profile {
                TESTS => languages::folder().join("cpp"),
                _ => languages::cpp("cpp-release", "Release", None, &[])?,
            };
            let program = format!("usr/local/bin/{}", image.name);
            let libraries = files.program(&program, &built.join("cpp").join(name))?;
            Ok((files, sbom::of_libraries(&libraries)?))
        }
        Content::Host(programs) => with_python_kit(programs, build, source),
        Content::Builder(programs) => {
            let (mut files, packages) = with_python_kit(programs, build, source)?;
            for file in git_files("bots")?.into_iter().chain(git_files("proto")?) {
                if CPP_KIT.iter().any(|needed| file.starts_with(needed)) {
                    files.file(&format!("{CHECKOUT}/{file}"), &root().join(&file))?;
                }
            }
            Ok((files, packages))
        }
        Content::Python(sample) => {
            let mut files = Rootfs::default();
            let packages = python_kit(&mut files, build, source)?;
            let samples = root().join("bots/python/samples");
            for name in [sample, "thinking.py"] {
                files.file(&format!("opt/bot/{name}"), &samples.join(name))?;
            }
            Ok((files, packages))
        }
        Content::Node(sample) => {
            if build.profile != TESTS {
                languages::typescript()?;
            }
            let mut files = Rootfs::default();
            let packages = npm::sample().join("node_modules");
            files.tree("opt/bot/node_modules", &packages, &npm::is_needed)?;
            for name in [sample, "package.json"] {
                files.file(&format!("opt/bot/{name}"), &npm::sample().join(name))?;
            }
            Ok((files, npm::packages()?))
        }
        Content::Debian(added) => {
            let mut files = Rootfs::default();
            let from = root().join("deploy/images").join(image.name);
            let folders = [
                ("usr/local/bin", added.programs),
                ("etc/bot-arena", added.configuration),
            ];
            for (folder, names) in folders {
                for name in names {
                    files.file(&format!("{folder}/{name}"), &from.join(name))?;
                }
            }
            // Its packages are in the engine's hands: dpkg says which, inside of the image.
            Ok((files, BTreeSet::new()))
        }
    }
}

/// The folder of an image that has the files of ours which kits are compiled of.
const CHECKOUT: &str = "opt/bot-arena";
/// The sources of the kit for C++ and of the adapter for brains.
const CPP_KIT: [&str; 4] = [
    "bots/CMakeLists.txt",
    "bots/adapters/brain/",
    "bots/cpp/",
    "proto/",
];

/// Rust programs and the kit for Python.
fn with_python_kit(
    programs: &[Program],
    build: Build<'_>,
    source: &Source,
) -> Result<(Rootfs, BTreeSet<Package>)> {
    let mut files = Rootfs::default();
    let mut packages = BTreeSet::new();
    for program in programs {
        let path = format!("usr/local/bin/{}", program.name);
        files.file(&path, &build.path(*program))?;
        packages.extend(sbom::of_rust(*program, build.arch)?);
    }
    packages.extend(python_kit(&mut files, build, source)?);
    Ok((files, packages))
}

/// Adds the kit for Python and what it needs.
fn python_kit(files: &mut Rootfs, build: Build<'_>, source: &Source) -> Result<BTreeSet<Package>> {
    let site = pip::install(source.epoch, build.arch)?;
    files.tree(pip::PATH, &site, &pip::is_needed)?;
    pip::packages(&site)
}

/// A Dockerfile with our version and the commit, so that the context by itself is enough.
fn filled_in(dockerfile: &str, revision: &str) -> Result<String> {
    let mut filled = dockerfile.to_owned();
    for (name, value) in [
        ("VERSION", env!("CARGO_PKG_VERSION")),
        ("REVISION", revision),
    ] {
        let declared = format!("ARG {name}\n");
        if !filled.contains(&declared) {
            return Err(format!("a Dockerfile has no line `{}`", declared.trim()).into());
        }
        filled = filled.replace(&declared, &format!("ARG {name}={value}\n"));
    }
    Ok(filled)
}

#[cfg(test)]
mod tests {
    use super::super::IMAGES;
    use super::*;

    #[test]
    fn every_image_has_a_dockerfile_with_our_version() {
        for image in IMAGES {
            let filled = filled_in(&dockerfile(image).unwrap(), "abc").unwrap();
            assert!(filled.contains("ARG REVISION=abc\n"), "{filled}");
            for label in ["title", "description", "licenses", "version", "revision"] {
                let label = format!("org.opencontainers.image.{label}=");
                assert!(filled.contains(&label), "{}: no {label}", image.name);
            }
            assert!(filled.contains("\nUSER 10001:10001\n"), "{filled}");
            assert_eq!(filled.contains("FROM scratch"), !image.content.has_base());
        }
    }
}
