//! Statements with a variable number of values, and lists that are stored as text.

use std::{fmt::Display, fmt::Write as _, str::FromStr};

use arena_ladder::{Entrant, Lineup};
use sqlx::{
    Any, Arguments as _, AssertSqlSafe, Encode, Row as _, Type,
    any::{AnyArguments, AnyRow},
    error::BoxDynError,
    query::Query,
};

use crate::{StoreError, session::PooledConnection};

/// A statement that is built piece by piece. Its text comes from this crate only;
/// values from outside are bound.
#[derive(Default)]
pub(crate) struct Statement {
    text: String,
    values: AnyArguments,
    refused: Option<BoxDynError>,
}

impl Statement {
    /// A statement that begins with this text.
    pub(crate) fn new(text: &str) -> Self {
        Self {
            text: text.to_owned(),
            ..Self::default()
        }
    }

    /// Appends text.
    pub(crate) fn text(&mut self, text: &str) -> &mut Self {
        self.text.push_str(text);
        self
    }

    /// Appends a parameter with this value, and before it a comma if it follows another.
    pub(crate) fn bind<'t, T>(&mut self, value: T) -> &mut Self
    where
        T: Encode<'t, Any> + Type<Any>,
    {
        if let Err(error) = self.values.add(value) {
            self.refused = Some(error);
        }
        let follows = self.text.ends_with('?');
        self.text.push_str(if follows { ", ?" } else { "?" });
        self
    }

    /// Appends `(…), (…), …`, one pair of brackets for each item. `fill` appends what
    /// stands between them.
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

    /// Appends ` AND column IN (…)` with these numbers.
    ///
    /// Bounds stand beside them, and no join with `VALUES`: PostgreSQL reads all rows of a tournament
    /// that its statistics don't know yet, unless a condition bounds what is read of the index.
    pub(crate) fn and_among(&mut self, column: &str, numbers: &[i64]) -> &mut Self {
        let (Some(least), Some(most)) = (numbers.iter().min(), numbers.iter().max()) else {
            return self.text(" AND 1 = 0");
        };
        self.text(" AND ").text(column).text(" >= ").bind(*least);
        self.text(" AND ").text(column).text(" <= ").bind(*most);
        self.text(" AND ").text(column).text(" IN (");
        for number in numbers {
            self.bind(*number);
        }
        self.text(")")
    }

    /// The statement as the database of `session` understands it.
    ///
    /// PostgreSQL needs numbered parameters. SQLite would treat those as names and
    /// search all earlier ones for each, which for a thousand of them takes longer than
    /// everything else.
    pub(crate) fn query(
        self,
        session: &PooledConnection,
    ) -> Result<Query<'static, Any, AnyArguments>, StoreError> {
        if let Some(error) = self.refused {
            return Err(sqlx::Error::Encode(error).into());
        }
        let text = match session.is_sqlite() {
            true => self.text,
            false => numbered(&self.text),
        };
        Ok(sqlx::query_with(AssertSqlSafe(text), self.values))
    }
}

/// The text with `$1`, `$2`, … instead of question marks; our text has no others.
fn numbered(text: &str) -> String {
    let mut parts = text.split('?');
    let mut numbered = parts.next().expect("a split has a first part").to_owned();
    for (at, part) in parts.enumerate() {
        write!(numbered, "${}{part}", at + 1).expect("writing to a string can't fail");
    }
    numbered
}

/// A column with a number, converted from the type of the database.
pub(crate) fn number<T: TryFrom<i64>>(row: &AnyRow, column: &str) -> Result<T, StoreError> {
    let value: i64 = row.try_get(column)?;
    T::try_from(value).map_err(|_| damaged(column, &value))
}

/// A number, converted to the type of the database.
///
/// # Errors
///
/// It is above 2^63 - 1.
pub(crate) fn signed(number: u64) -> Result<i64, StoreError> {
    i64::try_from(number).map_err(|_| damaged("a number", &number))
}

/// Items separated by commas.
pub(crate) fn list<T: Display>(items: impl IntoIterator<Item = T>) -> String {
    let mut text = String::new();
    for (at, item) in items.into_iter().enumerate() {
        let comma = if at == 0 { "" } else { "," };
        write!(text, "{comma}{item}").expect("writing to a string can't fail");
    }
    text
}

/// Reads what [`list`] wrote.
pub(crate) fn unlist<T: FromStr>(text: &str) -> Result<Vec<T>, StoreError> {
    if text.is_empty() {
        return Ok(Vec::new());
    }
    text.split(',')
        .map(|item| item.parse().map_err(|_| damaged("a list", &text)))
        .collect()
}

/// A lineup as text: `0,3,-,1`, where `-` is a house bot.
pub(crate) fn lineup_text(lineup: &[Option<Entrant>]) -> String {
    list(lineup.iter().map(|place| match place {
        Some(entrant) => entrant.to_string(),
        None => "-".to_owned(),
    }))
}

/// Reads what [`lineup_text`] wrote.
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

/// The error for a value in the database that can't be read.
pub(crate) fn damaged(what: &str, value: &impl Display) -> StoreError {
    StoreError::Damaged(format!("{what} is `{value}`"))
}
