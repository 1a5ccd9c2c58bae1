//! Tables that spreadsheets open.

/// A table as CSV. A cell that a spreadsheet would take for a formula begins with an apostrophe.
pub(crate) fn csv(rows: impl IntoIterator<Item = Vec<String>>) -> String {
    let mut csv = csv::Writer::from_writer(Vec::new());
    for row in rows {
        let cells = row.iter().map(|cell| neutral(cell));
        csv.write_record(cells).expect("rows have one length");
    }
    let bytes = csv.into_inner().expect("writing to memory can't fail");
    String::from_utf8(bytes).expect("all cells are text")
}

fn neutral(cell: &str) -> String {
    let is_number = cell.parse::<f64>().is_ok();
    match cell.starts_with(['=', '+', '-', '@', '\t', '\r']) && !is_number {
        true => format!("'{cell}"),
        false => cell.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_cell_is_a_formula() {
        assert_eq!(neutral("-5"), "-5");
        assert_eq!(neutral("@SUM(A1)"), "'@SUM(A1)");
        let row = ["=1+1", "a, \"b\"", ""].map(str::to_owned);
        assert_eq!(csv([row.to_vec()]), "'=1+1,\"a, \"\"b\"\"\",\n");
    }
}
