//! Keeping what a person wrote: comments, order and spacing of a TOML file survive its edits.

use std::collections::HashMap;

use toml_edit::{Array, ArrayOfTables, DocumentMut, InlineTable, Item, Table, TableLike, Value};

/// The content of `fresh` in the words of `original`: its comments, order and spacing, wherever a key or a node (by
/// name) is still there. None if either is not TOML.
pub(super) fn keep(original: &str, fresh: &str) -> Option<String> {
    let mut document: DocumentMut = original.parse().ok()?;
    let fresh: DocumentMut = fresh.parse().ok()?;
    merge(document.as_table_mut(), fresh.as_table());
    Some(document.to_string())
}

fn merge(old: &mut dyn TableLike, new: &dyn TableLike) {
    let gone: Vec<String> = old.iter().map(|(key, _)| key.to_owned()).filter(|key| !new.contains_key(key)).collect();
    for key in gone {
        old.remove(&key);
    }
    for (key, item) in new.iter() {
        match old.get_mut(key) {
            Some(present) => merge_item(present, item),
            None => {
                old.insert(key, item.clone());
            }
        }
    }
}

fn merge_item(old: &mut Item, new: &Item) {
    if let (Some(old), Some(new)) = (old.as_table_like_mut(), new.as_table_like()) {
        return merge(old, new);
    }
    match (&mut *old, new) {
        (Item::ArrayOfTables(old), Item::ArrayOfTables(new)) => merge_tables(old, new),
        (Item::Value(Value::Array(old)), Item::ArrayOfTables(new)) => merge_inline(old, new),
        (Item::Value(old), Item::Value(new)) if is_same(old, new) => {}
        (Item::Value(old), Item::Value(new)) => {
            let decor = old.decor().clone();
            *old = new.clone();
            *old.decor_mut() = decor;
        }
        (old, new) => *old = new.clone(),
    }
}

/// Nodes as `[[nodes]]` blocks.
fn merge_tables(old: &mut ArrayOfTables, new: &ArrayOfTables) {
    let named = |table: Table| Some((name_of(&table)?, table));
    let mut present: HashMap<String, Table> = old.iter().cloned().filter_map(named).collect();
    old.clear();
    for row in new {
        let mut table = name_of(row).and_then(|name| present.remove(&name)).unwrap_or_else(|| {
            let mut table = row.clone();
            // Behind the one before it, not where it stood in the other text.
            table.set_position(None);
            table
        });
        merge(&mut table, row);
        old.push(table);
    }
}

/// Nodes as an array of inline tables.
fn merge_inline(old: &mut Array, new: &ArrayOfTables) {
    // A new node stands as the last one does, on a line of its own or not, but without the comment before that.
    let spacing =
        old.iter().last().and_then(|last| last.decor().prefix()?.as_str()).map(|prefix| {
            prefix.rsplit_once('\n').map_or_else(|| prefix.to_owned(), |(_, indent)| format!("\n{indent}"))
        });
    let named = |value: &Value| value.as_inline_table().and_then(|table| Some((name_of(table)?, table.clone())));
    let mut present: HashMap<String, InlineTable> = old.iter().filter_map(named).collect();
    old.clear();
    for row in new {
        match name_of(row).and_then(|name| present.remove(&name)) {
            Some(mut table) => {
                let before = table.to_string();
                merge(&mut table, row);
                if table.to_string() != before {
                    table.fmt();
                }
                old.push_formatted(Value::InlineTable(table));
            }
            None => {
                let mut value = Value::InlineTable(row.clone().into_inline_table());
                if let Some(spacing) = &spacing {
                    value.decor_mut().set_prefix(spacing);
                }
                old.push_formatted(value);
            }
        }
    }
}

fn name_of(table: &dyn TableLike) -> Option<String> {
    table.get("name")?.as_str().map(str::to_owned)
}

/// Whether two values say the same, such as `1` and `1.0`.
fn is_same(a: &Value, b: &Value) -> bool {
    let number = |value: &Value| value.as_float().or_else(|| value.as_integer().map(|integer| integer as f64));
    match (a, b) {
        (Value::Integer(a), Value::Integer(b)) => a.value() == b.value(),
        (Value::String(a), Value::String(b)) => a.value() == b.value(),
        (Value::Boolean(a), Value::Boolean(b)) => a.value() == b.value(),
        _ => number(a).is_some() && number(a) == number(b),
    }
}
