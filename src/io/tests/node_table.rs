//! Node tables: there and back in both formats, and what is wrong with the wrong ones.

use std::sync::Arc;

use arrow_array::types::Int32Type;
use arrow_array::{ArrayRef, DictionaryArray, Float32Array, Int16Array, Int64Array, RecordBatch, StringViewArray};
use parquet::arrow::ArrowWriter;

use super::{Scratch, file};
use crate::io::{NodeRow, TableFormat, read_node_table, write_node_table};

fn rows() -> Vec<NodeRow> {
    vec![
        NodeRow { name: "a".into(), slot: Some(0), weight: Some(0.1), zone: Some("dc1/r2".into()), up: Some(true) },
        NodeRow { name: "b, \"c\"\n".into(), slot: Some(u64::MAX), weight: Some(2.0), zone: None, up: Some(false) },
        NodeRow { name: "grün".into(), ..NodeRow::default() },
        NodeRow { name: String::new(), weight: Some(1e300), ..NodeRow::default() },
    ]
}

fn error(file: &Scratch) -> String {
    let error = read_node_table(&file.path).unwrap_err().to_string();
    error.replace(&format!("{}/", file.directory.path().display()), "")
}

fn csv_error(content: &str) -> String {
    error(&file("nodes.csv", content.as_bytes()))
}

#[test]
fn rows_come_back_from_both_formats() {
    for (format, name) in [(TableFormat::Csv, "nodes.csv"), (TableFormat::Parquet, "nodes.parquet")] {
        let (mut first, mut second) = (Vec::new(), Vec::new());
        write_node_table(format, &rows(), &mut first).unwrap();
        write_node_table(format, &rows(), &mut second).unwrap();
        assert_eq!(first, second);
        let scratch = file(name, &first);
        assert_eq!(read_node_table(&scratch.path).unwrap(), rows());
        assert_eq!(TableFormat::of_path(&scratch.path), Some(format));
    }
    let mut text = Vec::new();
    write_node_table(TableFormat::Csv, &rows()[..1], &mut text).unwrap();
    assert_eq!(String::from_utf8(text).unwrap(), "name,slot,weight,zone,up\na,0,0.1,dc1/r2,true\n");
}

#[test]
fn columns_in_any_order_and_few_of_them() {
    let table = file("nodes.csv", b"\xef\xbb\xbfup,name\r\ndown,a\r\n1,b\r\n,c\r\n");
    let up: Vec<_> = read_node_table(&table.path).unwrap().into_iter().map(|row| (row.name, row.up)).collect();
    assert_eq!(up, [("a".to_owned(), Some(false)), ("b".to_owned(), Some(true)), ("c".to_owned(), None)]);
}

#[test]
fn wrong_tables_say_what_is_wrong() {
    assert!(csv_error("").starts_with("nodes.csv: there is no header line: begin with name,slot,"));
    assert_eq!(
        csv_error("name,wieght\n"),
        "nodes.csv: a node table has no column \"wieght\": the columns are name, slot, weight, zone, up"
    );
    assert!(csv_error("slot\n1\n").contains("there is no column \"name\": give every node a name"));
    assert!(csv_error("name,name\n").contains("there are two columns \"name\""));
    let slot = csv_error("name,slot\na,1\n\nb,-1\n");
    assert!(
        slot.starts_with("nodes.csv: line 4, column \"slot\": \"-1\" is not a slot: give a whole number"),
        "{slot}"
    );
    assert!(csv_error("name,slot\na,+1\n").contains("\"+1\" is not a slot"));
    assert!(csv_error("name,weight\na,much\n").contains("line 2, column \"weight\": \"much\" is not a weight"));
    assert!(csv_error("name,weight\na,NaN\n").contains("\"NaN\" is not a weight"));
    assert!(csv_error("name,up\na,maybe\n").contains("\"maybe\" does not say whether the node is up"));
    assert!(csv_error("name,up\na\n").contains("line 2: the row has 1 fields, and the header 2"));
    assert!(error(&file("nodes.csv", b"name\n\xff\n")).contains("is not a name: give UTF-8 text"));
    assert!(error(&file("nodes.xls", b"")).contains("give a file named .csv or .parquet"));
    assert!(error(&file("nodes.parquet", b"name")).contains("not a readable Parquet file"));
}

fn parquet(columns: Vec<(&str, ArrayRef)>) -> Scratch {
    let batch =
        RecordBatch::try_from_iter_with_nullable(columns.into_iter().map(|(name, array)| (name, array, true))).unwrap();
    let mut bytes = Vec::new();
    let mut writer = ArrowWriter::try_new(&mut bytes, batch.schema(), None).unwrap();
    writer.write(&batch).unwrap();
    writer.close().unwrap();
    file("nodes.parquet", &bytes)
}

#[test]
fn parquet_tables_of_other_types() {
    let names: DictionaryArray<Int32Type> = ["a", "b"].into_iter().collect();
    let table = parquet(vec![
        ("weight", Arc::new(Float32Array::from(vec![Some(0.5), None]))),
        ("name", Arc::new(names)),
        ("slot", Arc::new(Int16Array::from(vec![7, 8]))),
        ("zone", Arc::new(StringViewArray::from(vec![Some("z"), Some("")]))),
    ]);
    let read = read_node_table(&table.path).unwrap();
    assert_eq!(
        read[0],
        NodeRow { name: "a".into(), slot: Some(7), weight: Some(0.5), zone: Some("z".into()), up: None }
    );
    assert_eq!(read[1], NodeRow { name: "b".into(), slot: Some(8), ..NodeRow::default() });

    let name = || Arc::new(StringViewArray::from(vec!["a", "b"])) as ArrayRef;
    let slot = error(&parquet(vec![("name", name()), ("slot", Arc::new(Int64Array::from(vec![1, -2])))]));
    assert!(slot.starts_with("nodes.parquet: row 1, column \"slot\": \"-2\" is not a slot"), "{slot}");
    let null = error(&parquet(vec![("name", Arc::new(StringViewArray::from(vec![Some("a"), None])))]));
    assert!(null.starts_with("nodes.parquet: row 1, column \"name\": the value is not a name"), "{null}");
    let weight = error(&parquet(vec![("name", name()), ("weight", Arc::new(Float32Array::from(vec![1.0, f32::NAN])))]));
    assert!(weight.contains("row 1, column \"weight\": \"NaN\" is not a weight"), "{weight}");
    let up = error(&parquet(vec![("name", name()), ("up", Arc::new(Int64Array::from(vec![1, 0])))]));
    assert!(up.contains("column \"up\" is Int64: make it a column of booleans"), "{up}");
}
