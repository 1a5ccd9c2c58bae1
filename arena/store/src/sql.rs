//! Statements whose length is known only when they are run, and the lists that
//! are kept as text.

use std::{fmt::Display, fmt::Write as _, str::FromStr};

use arena_ladder::{Entrant, Lineup};
use sqlx::{
    Any, AnyConnection, Arguments as _, AssertSqlSafe, Encode, Row as _, Type,
    any::{AnyArguments, AnyRow},
    error::BoxDynError,
    query::Query,
};

use crate::StoreError;

/// A statement that takes a list of values. Text comes from this crate alone;
/// what comes from outside is bound.
#[derive(Default)]
pub(crate) struct Statement {
    text: String,
    values: AnyArguments,
    refused: Option<BoxDynError>,
}

impl Statement {
    /// A statement that begins with this.
    pub(crate) fn new(text: &str) -> Self {
        Self {
            text: text.to_owned(),
            ..Self::default()
        }
    }

    /// Goes on with this.
    pub(crate) fn text(&mut self, text: &str) -> &mut Self {
        self.text.push_str(text);
        self
    }

    /// Goes on with a parameter, and gives it this value.
    pub(crate) fn bind<'t, T>(&mut self, value: T) -> &mut Self
    where
        T: Encode<'t, Any> + Type<Any>,
    {
        if let Err(error) = self.values.add(value) {
            self.refused = Some(error);
        }
        self.text.push('?');
        self
    }

    /// Goes on with `(…), (…), …`, a pair of brackets for each item, each filled
    /// by `fill`, which puts its own commas.
    pub(crate) fn rows<I>(
        &mut self,
        items: impl IntoIterator<Item = I>,
        mut fill: impl FnMut(&mut Self, I),
    ) -> &mut Self {
        for (at, item) in items.into_iter().enumerate() {
            self.text(if at == 0 { "(" } else { ", (" });
            fill(self, item);
            self.text(")");
        }
        self
    }

    /// The statement as `connection` understands it.
    ///
    /// PostgreSQL has parameters with numbers. SQLite takes those for names and
    /// looks each up among all that came before it: a thousand of them cost more
    /// than all else together.
    pub(crate) fn query(
        self,
        connection: &AnyConnection,
    ) -> Result<Query<'static, Any, AnyArguments>, StoreError> {
        if let Some(error) = self.refused {
            return Err(sqlx::Error::Encode(error).into());
        }
        let text = match connection.backend_name() {
            "SQLite" => self.text,
            _ => numbered(&self.text),
        };
        Ok(sqlx::query_with(AssertSqlSafe(text), self.values))
    }
}

/// The same with `$1`, `$2`, … for the question marks, of which our text has no
/// others.
fn numbered(text: &str) -> String {
    let mut parts = text.split('?');
    let mut numbered = parts.next().unwrap_or_default().to_owned();
    for (at, part) in parts.enumerate() {
        write!(numbered, "${}{part}", at + 1).expect("a string takes everything");
    }
    numbered
}

/// A column as a number of another type than the database has.
pub(crate) fn number<T: TryFrom<i64>>(row: &AnyRow, column: &str) -> Result<T, StoreError> {
    let value: i64 = row.try_get(column)?;
    T::try_from(value).map_err(|_| damaged(column, &value))
}

/// A number as the database has it.
///
/// # Errors
///
/// It is above 2^63 - 1.
pub(crate) fn signed(number: u64) -> Result<i64, StoreError> {
    i64::try_from(number).map_err(|_| damaged("a number", &number))
}

/// Numbers with commas.
pub(crate) fn list<T: Display>(items: impl IntoIterator<Item = T>) -> String {
    let mut text = String::new();
    for (at, item) in items.into_iter().enumerate() {
        let comma = if at == 0 { "" } else { "," };
        write!(text, "{comma}{item}").expect("a string takes everything");
    }
    text
}

/// What [`list`] wrote.
pub(crate) fn unlist<T: FromStr>(text: &str) -> Result<Vec<T>, StoreError> {
    if text.is_empty() {
        return Ok(Vec::new());
    }
    text.split(',')
        .map(|item| item.parse().map_err(|_| damaged("a list", &text)))
        .collect()
}

/// A lineup: `0,3,-,1`.
pub(crate) fn lineup_text(lineup: &[Option<Entrant>]) -> String {
    list(lineup.iter().map(|place| match place {
        Some(entrant) => entrant.to_string(),
        None => "-".to_owned(),
    }))
}

/// What [`lineup_text`] wrote.
pub(crate) fn lineup(text: &str) -> Result<Lineup, StoreError> {
    text.split(',')
        .map(|place| match place {
            "-" => Ok(None),
            number => number
                .parse()
                .map(|number| Some(Entrant::new(number)))
                .map_err(|_| damaged("a lineup", &text)),
        })
        .collect()
}

/// A value as JSON.
pub(crate) fn json<T: serde::Serialize + ?Sized>(value: &T) -> String {
    serde_json::to_string(value).expect("a value without maps can be written as JSON")
}

/// What lies in the database and can't be read.
pub(crate) fn damaged(what: &str, value: &impl Display) -> StoreError {
    StoreError::Damaged(format!("{what} is `{value}`"))
}
