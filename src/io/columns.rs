//! Which columns of a file are the keys, the carried ones and the sizes.

use super::options::ReadOptions;
use crate::error::{Error, Result};

/// The most column names that a message lists.
const LISTED: usize = 30;

/// The chosen columns, by position or by what else finds them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Chosen<C = usize> {
    pub(super) key: C,
    pub(super) kept: Vec<C>,
    pub(super) size: Option<C>,
}

/// Finds the columns that `options` ask for among `names`.
///
/// # Errors
/// If one is not there or there twice, or if none was named for the keys and it is not clear which it is.
pub(super) fn choose(names: &[String], options: &ReadOptions) -> Result<Chosen> {
    if let ([name], None) = (names, &options.column) {
        refuse_other_delimiters(name)?;
    }
    choose_by(names, options, |name| find(names, name))
}

/// As [`choose`], with another way to find a column by its name; `names` are those at the top.
pub(super) fn choose_by<C: PartialEq>(
    names: &[String],
    options: &ReadOptions,
    find: impl Fn(&str) -> Result<C>,
) -> Result<Chosen<C>> {
    let key = match (&options.column, names) {
        (Some(name), _) => find(name)?,
        (None, [name]) => find(name)?,
        (None, _) if names.iter().any(|name| name == "key") => find("key")?,
        (None, _) => {
            return Err(Error::invalid(
                "which column has the keys is not clear: there are several and none is named \"key\"",
                format!("name one with --column; the columns are {}", list(names)),
            ));
        }
    };
    let mut kept = Vec::with_capacity(options.keep.len());
    for name in &options.keep {
        let column = find(name)?;
        if kept.contains(&column) {
            return Err(Error::invalid(format!("column {name:?} is to be kept twice"), "name it once"));
        }
        kept.push(column);
    }
    let size = options.size_column.as_deref().map(find).transpose()?;
    Ok(Chosen { key, kept, size })
}

/// A single column whose name holds what often separates columns is more likely several: whole rows would be keys.
fn refuse_other_delimiters(name: &str) -> Result<()> {
    match [(';', ";"), ('\t', "tab"), ('|', "|"), (',', ",")]
        .into_iter()
        .find(|(delimiter, _)| name.contains(*delimiter))
    {
        Some((_, delimiter)) => Err(Error::invalid(
            format!("the only column is {name:?}, as if something else separated the fields"),
            format!("pass --delimiter '{delimiter}', or --column '{name}' if that is its name"),
        )),
        None => Ok(()),
    }
}

/// The position of the one column of this name.
pub(super) fn find(names: &[String], name: &str) -> Result<usize> {
    let mut found = names.iter().enumerate().filter(|(_, other)| *other == name).map(|(index, _)| index);
    match (found.next(), found.next()) {
        (Some(index), None) => Ok(index),
        (Some(first), Some(second)) => Err(Error::invalid(
            format!("columns {} and {} are both named {name:?}", first + 1, second + 1),
            "rename one of them",
        )),
        (None, _) => Err(Error::invalid(
            format!("there is no column {name:?}"),
            if names.is_empty() {
                "the file has no columns".into()
            } else {
                format!("the columns are {}", list(names))
            },
        )),
    }
}

/// Column names as a message shows them.
pub(super) fn list(names: &[String]) -> String {
    let mut text = names.iter().take(LISTED).map(|name| format!("{name:?}")).collect::<Vec<_>>().join(", ");
    if names.len() > LISTED {
        text.push_str(&format!(" and {} more", names.len() - LISTED));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(names: &[&str]) -> Vec<String> {
        names.iter().map(|name| (*name).to_owned()).collect()
    }

    fn options(column: Option<&str>) -> ReadOptions {
        ReadOptions { column: column.map(Into::into), ..ReadOptions::default() }
    }

    #[test]
    fn the_key_column_is_the_named_the_only_or_the_one_called_key() {
        assert_eq!(choose(&names(&["a"]), &options(None)).unwrap().key, 0);
        assert_eq!(choose(&names(&["a", "key"]), &options(None)).unwrap().key, 1);
        assert_eq!(choose(&names(&["a", "key"]), &options(Some("a"))).unwrap().key, 0);
        let unclear = choose(&names(&["a", "b"]), &options(None)).unwrap_err().to_string();
        assert!(unclear.contains(r#"the columns are "a", "b""#), "{unclear}");
        let unknown = choose(&names(&["a", "b"]), &options(Some("c"))).unwrap_err().to_string();
        assert!(unknown.contains(r#"no column "c": the columns are "a", "b""#), "{unknown}");
        let twice = choose(&names(&["a", "b", "a"]), &options(Some("a"))).unwrap_err().to_string();
        assert!(twice.contains("columns 1 and 3 are both named"), "{twice}");
        assert!(choose(&names(&["key", "key"]), &options(None)).is_err());
    }

    #[test]
    fn carried_columns_keep_the_order_asked_for() {
        let mut asked = options(Some("k"));
        asked.keep = names(&["z", "y"]);
        asked.size_column = Some("y".into());
        let chosen = choose(&names(&["k", "y", "z"]), &asked).unwrap();
        assert_eq!(chosen, Chosen { key: 0, kept: vec![2, 1], size: Some(1) });
        asked.keep = names(&["z", "z"]);
        assert!(choose(&names(&["k", "y", "z"]), &asked).unwrap_err().to_string().contains("twice"));
    }
}
