//! A SPEC of a built-in bot: its name and its parameters.

use std::{collections::BTreeMap, num::NonZeroUsize, str::FromStr, time::Duration};

use strum::VariantNames;

use crate::{HouseBot, Parameter};

/// Number of levels of a bot that has levels.
pub const LEVELS: usize = 10;
/// The size of a table of positions in MiB where none is given.
const TABLE: usize = 32;

/// Those that mean the same in every bot that has them.
impl Parameter {
    pub(crate) const TIME: Self = Self {
        name: "time",
        standard: "the limit less a margin, or a part of the budget",
        summary: "thinking time for a move",
    };
    pub(crate) const LEVEL: Self = Self {
        name: "level",
        standard: "full strength",
        summary: "1 to 10: weaker play, the lower the weaker",
    };
    pub(crate) const TABLE: Self = Self {
        name: "table",
        standard: "32",
        summary: "the size of its table of positions in MiB",
    };
    pub(crate) const THREADS: Self = Self {
        name: "threads",
        standard: "1",
        summary: "how many threads search",
    };
}

/// The parameters that were given.
pub struct Parameters {
    bot: &'static str,
    given: BTreeMap<String, String>,
}

/// Reason why a SPEC names no bot.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SpecError {
    /// No bot has this name.
    #[error("there is no built-in bot \"{name}\"{}; there are {known}", meant(.like))]
    Name {
        /// The name that was given.
        name: String,
        /// The names that exist, as text.
        known: String,
        /// The name that may have been meant.
        like: Option<String>,
    },
    /// The bot has no such parameter.
    #[error("built-in bot \"{bot}\" has no parameter \"{name}\"; {known}")]
    Parameter {
        /// The bot.
        bot: &'static str,
        /// The name that was given.
        name: String,
        /// The parameters that exist, as text.
        known: String,
    },
    /// The parameter's value is invalid.
    #[error("{bot}?{name}={value}: expected {expected}")]
    Value {
        /// The bot.
        bot: &'static str,
        /// The parameter.
        name: &'static str,
        /// The value that was given.
        value: String,
        /// The values that are allowed.
        expected: String,
    },
}

impl Parameters {
    pub(crate) fn read<'a>(
        spec: &str,
        house: &'a [HouseBot],
    ) -> Result<(&'a HouseBot, Self), SpecError> {
        let (name, query) = spec.split_once('?').unwrap_or((spec, ""));
        let bot = house.iter().find(|bot| bot.name == name).ok_or_else(|| {
            let names: Vec<_> = house.iter().map(|bot| bot.name).collect();
            SpecError::Name {
                name: name.to_owned(),
                known: names.join(", "),
                like: closest(name, &names),
            }
        })?;
        let mut given = BTreeMap::new();
        for pair in query.split('&').filter(|pair| !pair.is_empty()) {
            let (parameter, value) = pair.split_once('=').unwrap_or((pair, ""));
            if !bot.parameters.iter().any(|known| known.name == parameter) {
                let names: Vec<_> = bot.parameters.iter().map(|known| known.name).collect();
                return Err(SpecError::Parameter {
                    bot: bot.name,
                    name: parameter.to_owned(),
                    known: if names.is_empty() {
                        "it has none".to_owned()
                    } else {
                        format!("it has {}", names.join(", "))
                    },
                });
            }
            given.insert(parameter.to_owned(), value.to_owned());
        }
        let parameters = Self {
            bot: bot.name,
            given,
        };
        Ok((bot, parameters))
    }

    /// A parameter's value, where it was given.
    ///
    /// # Errors
    ///
    /// [`SpecError::Value`] where it is not what is expected.
    pub fn get<T: FromStr>(
        &self,
        name: &'static str,
        expected: &str,
        good: impl Fn(&T) -> bool,
    ) -> Result<Option<T>, SpecError> {
        self.parse(name, expected, |text| text.parse().ok().filter(&good))
    }

    /// A length of time, likewise.
    ///
    /// # Errors
    ///
    /// [`SpecError::Value`] where it is invalid.
    pub fn duration(&self, name: &'static str) -> Result<Option<Duration>, SpecError> {
        self.parse(name, "a length of time such as 200ms", |text| {
            humantime::parse_duration(text)
                .ok()
                .filter(|time| !time.is_zero())
        })
    }

    /// A level, counted from 1; none where it was not given.
    ///
    /// # Errors
    ///
    /// [`SpecError::Value`] where it is not one of [`LEVELS`].
    pub fn level(&self) -> Result<Option<usize>, SpecError> {
        let expected = format!("a level of 1 to {LEVELS}");
        self.get(Parameter::LEVEL.name, &expected, |level| {
            (1..=LEVELS).contains(level)
        })
    }

    /// The size of a table of positions in MiB.
    ///
    /// # Errors
    ///
    /// [`SpecError::Value`] where it is not one.
    pub fn table(&self) -> Result<usize, SpecError> {
        let size = self.get(Parameter::TABLE.name, "a size in MiB, 1 to 4096", |size| {
            (1..=4096).contains(size)
        })?;
        Ok(size.unwrap_or(TABLE))
    }

    /// Number of threads that think.
    ///
    /// # Errors
    ///
    /// [`SpecError::Value`] where it is no number of threads.
    pub fn threads(&self) -> Result<NonZeroUsize, SpecError> {
        let expected = "a number of threads, 1 to 64";
        let threads = self.get(Parameter::THREADS.name, expected, |threads| {
            (1..=64).contains(&NonZeroUsize::get(*threads))
        })?;
        Ok(threads.unwrap_or(NonZeroUsize::MIN))
    }

    /// Yes or no, likewise.
    ///
    /// # Errors
    ///
    /// [`SpecError::Value`] where it is neither.
    pub fn is_on(&self, name: &'static str) -> Result<Option<bool>, SpecError> {
        self.parse(name, "yes or no", |text| match text {
            "yes" => Some(true),
            "no" => Some(false),
            _ => None,
        })
    }

    /// That this parameter goes with those that were given: else what was expected of it.
    ///
    /// # Errors
    ///
    /// [`SpecError::Value`] where it does not.
    pub fn require(&self, name: &'static str, expected: &str, good: bool) -> Result<(), SpecError> {
        self.parse(name, expected, |_| good.then_some(()))
            .map(|_| ())
    }

    /// Some of the variants of an enum, by their names with commas between; none where it was not
    /// given.
    ///
    /// # Errors
    ///
    /// [`SpecError::Value`] lists the names.
    pub fn list<T: FromStr + VariantNames>(&self, name: &'static str) -> Result<Vec<T>, SpecError> {
        let expected = format!("some of {}, with commas between", T::VARIANTS.join(", "));
        let one = |text: &str| text.parse().ok();
        let found = self.parse(name, &expected, |text| text.split(',').map(one).collect())?;
        Ok(found.unwrap_or_default())
    }

    fn parse<T>(
        &self,
        name: &'static str,
        expected: &str,
        parse: impl FnOnce(&str) -> Option<T>,
    ) -> Result<Option<T>, SpecError> {
        let Some(value) = self.given.get(name) else {
            return Ok(None);
        };
        parse(value).map(Some).ok_or_else(|| SpecError::Value {
            bot: self.bot,
            name,
            value: value.clone(),
            expected: expected.to_owned(),
        })
    }
}

fn meant(like: &Option<String>) -> String {
    like.as_ref()
        .map_or_else(String::new, |like| format!(" (did you mean {like}?)"))
}

/// The name that is closest, where it is close at all: it begins alike or
/// shares most letters in order.
#[must_use]
pub fn closest(name: &str, names: &[&str]) -> Option<String> {
    let shared = |known: &str| {
        let mut letters = known.chars();
        name.chars()
            .filter(|letter| letters.clone().any(|l| l == *letter) && letters.any(|l| l == *letter))
            .count()
    };
    names
        .iter()
        .filter(|known| 3 * shared(known) >= 2 * known.len().max(name.len()))
        .max_by_key(|known| shared(known))
        .map(|known| (*known).to_owned())
}

#[cfg(test)]
mod tests {
    use crate::bot;

    fn error(spec: &str) -> String {
        bot(spec).err().unwrap().to_string()
    }

    #[test]
    fn good_specs_are_bots() {
        for spec in [
            "random",
            "uct",
            "uct?time=200ms",
            "uct?playouts=100&c=0.7",
            "ladder?level=7",
            "weights?plies=5",
        ] {
            assert!(bot(spec).is_ok(), "{spec}");
        }
    }

    #[test]
    fn errors_say_what_there_is() {
        assert!(error("radnom").starts_with(
            "there is no built-in bot \"radnom\" (did you mean random?); there are random, uct"
        ));
        assert_eq!(
            error("uct?tiem=1s"),
            "built-in bot \"uct\" has no parameter \"tiem\"; it has time, playouts, c"
        );
        assert_eq!(
            error("uct?time=fast"),
            "uct?time=fast: expected a length of time such as 200ms"
        );
        assert_eq!(
            error("random?x=1"),
            "built-in bot \"random\" has no parameter \"x\"; it has none"
        );
        assert_eq!(
            error("uct?playouts=0"),
            "uct?playouts=0: expected a number of playouts, at least 1"
        );
    }
}
