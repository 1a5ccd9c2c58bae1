//! Moves as people and other programs write them.

/// The row and the column of a move `(row, column)`.
fn cell(notation: &str) -> Option<(usize, usize)> {
    let inner = notation.strip_prefix('(')?.strip_suffix(')')?;
    let (row, column) = inner.split_once(',')?;
    Some((row.trim().parse().ok()?, column.trim().parse().ok()?))
}

/// The column of a move `(row, column)`.
pub(super) fn column(notation: &str) -> Option<usize> {
    cell(notation).map(|(_, column)| column)
}

/// A move by its cell as the literature names it: a letter for the column, then the row from the
/// bottom of the board, so that a1 is the lower left cell.
pub(super) fn literary(notation: &str, rows: usize) -> Option<String> {
    let (row, column) = cell(notation)?;
    let letter = char::from_u32(u32::from(b'a') + u32::try_from(column).ok()?)?;
    Some(format!("{letter}{}", rows.checked_sub(row)?))
}

/// A column as one sign, from 1: the digits, then letters.
pub(super) fn sign(column: usize) -> Option<char> {
    char::from_digit(u32::try_from(column).ok()? + 1, 36)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_move_is_written_in_three_ways() {
        for (notation, column, sign, literary) in [
            ("(5, 0)", 0, '1', "a1"),
            ("(4, 3)", 3, '4', "d2"),
            ("(0, 8)", 8, '9', "i6"),
            ("(5, 11)", 11, 'c', "l1"),
        ] {
            assert_eq!(super::column(notation), Some(column));
            assert_eq!(super::sign(column), Some(sign));
            assert_eq!(super::literary(notation, 6).as_deref(), Some(literary));
        }
        for other in ["", "3", "(3)", "(7, -1)", "(x, 1)"] {
            assert_eq!(literary(other, 6), None, "{other}");
        }
    }
}
