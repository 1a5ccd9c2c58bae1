//! The words after `cargo xtask images`.

use super::{
    IMAGES, Image, REGISTRY,
    arch::Arch,
    programs::{Build, TESTS},
};
use crate::shell::Result;

/// The task that is to be done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Verb {
    /// Write contexts and build images of them.
    Build,
    /// Write contexts alone.
    Contexts,
    /// Make a base image of Debian's packages.
    Base,
}

/// The options that were given.
pub(super) struct Options {
    pub(super) verb: Verb,
    pub(super) images: Vec<&'static Image>,
    /// The image below those that stand on another one.
    pub(super) base: Option<String>,
    pub(super) engine_host: Option<String>,
    /// Cargo's profile of the Rust programs.
    pub(super) profile: String,
    /// Take what an earlier run has written below target/images.
    pub(super) prepared: bool,
    pub(super) arch: Arch,
    /// What the names of images begin with.
    pub(super) registry: String,
}

impl Options {
    /// Reads them.
    ///
    /// # Errors
    /// An option or an image does not exist, or a value is missing.
    pub(super) fn read(words: &[&str]) -> Result<Self> {
        let (verb, words) = match words {
            ["base", rest @ ..] => (Verb::Base, rest),
            ["contexts", rest @ ..] => (Verb::Contexts, rest),
            _ => (Verb::Build, words),
        };
        let mut options = Self {
            verb,
            images: Vec::new(),
            base: None,
            engine_host: None,
            profile: "dist".to_owned(),
            prepared: false,
            arch: Arch::host()?,
            registry: REGISTRY.to_owned(),
        };
        let mut words = words.iter();
        while let Some(word) = words.next() {
            let mut value = || match words.next() {
                Some(value) if !value.starts_with('-') => Ok((*value).to_owned()),
                _ => Err(format!("expected a value after {word}")),
            };
            match *word {
                "--base" => options.base = Some(value()?),
                "--engine-host" => options.engine_host = Some(value()?),
                "--profile" => options.profile = value()?,
                "--prepared" => options.prepared = true,
                "--arch" => options.arch = Arch::read(&value()?)?,
                "--registry" => options.registry = value()?,
                name => options.images.push(find(name)?),
            }
        }
        options.check()?;
        Ok(options)
    }

    /// The way in which programs are built.
    pub(super) fn build(&self) -> Build<'_> {
        Build {
            profile: &self.profile,
            arch: self.arch,
        }
    }

    /// True if images are for another architecture than that of this machine.
    ///
    /// # Errors
    /// That is unknown.
    pub(super) fn is_foreign(&self) -> Result<bool> {
        Ok(self.arch != Arch::host()?)
    }

    /// The tags of images. Those for another architecture take no name from those for this one.
    ///
    /// # Errors
    /// The architecture of this machine is unknown.
    pub(super) fn tags(&self) -> Result<Vec<String>> {
        let version = env!("CARGO_PKG_VERSION");
        let mut tags = vec![format!("{version}{}", self.arch.suffix()?)];
        if !self.is_foreign()? {
            tags.push("latest".to_owned());
        }
        Ok(tags)
    }

    /// Refuses what does not fit together, and takes all images where none is named.
    fn check(&mut self) -> Result {
        if self.verb == Verb::Base && !self.images.is_empty() {
            return Err("`images base` makes one image, `base`: expected no name".into());
        }
        let is_foreign = self.is_foreign()?;
        let arch = self.arch.name();
        if is_foreign && (self.verb == Verb::Base || self.profile == TESTS) {
            return Err(format!(
                "`images base` and the profile {TESTS} are for this machine: expected no --arch \
                 {arch}"
            )
            .into());
        }
        let is_possible = |image: &&Image| !is_foreign || image.content.is_portable();
        if let Some(image) = self.images.iter().find(|image| !is_possible(image)) {
            return Err(format!(
                "{} has this machine's libraries: build it on a machine of {arch}",
                image.name
            )
            .into());
        }
        if self.images.is_empty() {
            self.images.extend(IMAGES.iter().filter(is_possible));
        }
        Ok(())
    }
}

fn find(name: &str) -> Result<&'static Image> {
    let found = IMAGES.iter().find(|image| image.name == name);
    found.ok_or_else(|| {
        let known: Vec<_> = IMAGES.iter().map(|image| image.name).collect();
        let known = known.join(", ");
        format!(
            "there is no image or option `{name}`; expected --arch ARCH, --base IMAGE, --engine-host \
             unix://PATH, --profile NAME, --registry NAME, --prepared, or one of the images {known}"
        )
        .into()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(words: &[&str]) -> String {
        match Options::read(words) {
            Ok(_) => panic!("{words:?} was understood"),
            Err(error) => error.to_string(),
        }
    }

    #[test]
    fn no_name_means_all_images() {
        let options = Options::read(&["--base", "mine", "--profile", "dev"]).unwrap();
        assert_eq!(options.images.len(), IMAGES.len());
        assert_eq!(options.base.as_deref(), Some("mine"));
        assert_eq!(options.profile, "dev");
        assert_eq!(Options::read(&["bot"]).unwrap().images.len(), 1);
    }

    #[test]
    fn what_does_not_exist_is_refused() {
        assert!(refused(&["bots"]).contains("sample-node"));
        assert!(refused(&["--bases", "mine"]).contains("--base IMAGE"));
        assert!(refused(&["--base"]).contains("expected a value after --base"));
        assert!(refused(&["--base", "--prepared"]).contains("expected a value"));
        assert!(refused(&["base", "bot"]).contains("expected no name"));
    }

    #[test]
    fn images_for_another_machine_have_other_tags_and_no_libraries_of_this_one() {
        let here = Arch::host().unwrap().name();
        let other = if here == "amd64" { "arm64" } else { "amd64" };
        let options = Options::read(&["--arch", other, "--registry", "example.com/x"]).unwrap();
        let version = env!("CARGO_PKG_VERSION");
        assert_eq!(options.tags().unwrap(), [format!("{version}-{other}")]);
        assert_eq!(options.registry, "example.com/x");
        assert!(
            options
                .images
                .iter()
                .all(|image| image.name != "sample-cpp")
        );
        assert!(refused(&["--arch", other, "sample-cpp"]).contains("this machine's libraries"));
        assert!(refused(&["base", "--arch", other]).contains("are for this machine"));
        let options = Options::read(&["--arch", here]).unwrap();
        assert_eq!(options.tags().unwrap(), [version, "latest"]);
    }
}
