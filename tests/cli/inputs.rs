//! What keys can come from: compressed files, Arrow, folders, patterns, pipes, and several of them.

use std::sync::Arc;

use arrow_array::{ArrayRef, Int64Array, RecordBatch, StringArray, StructArray};
use arrow_ipc::writer::{FileWriter, StreamWriter};
use arrow_schema::{DataType, Field};

use crate::support::{Dir, Table, gzip, text_keys, write_parquet, zstd};

fn keys_batch(keys: &str) -> RecordBatch {
    let keys: ArrayRef = Arc::new(StringArray::from_iter_values(keys.lines().collect::<Vec<_>>()));
    RecordBatch::try_from_iter([("key", keys)]).expect("one column")
}

fn arrow_file(batch: &RecordBatch) -> Vec<u8> {
    let mut writer = FileWriter::try_new(Vec::new(), &batch.schema()).expect("a writer");
    writer.write(batch).expect("a batch");
    writer.finish().expect("a file");
    writer.into_inner().expect("bytes")
}

fn arrow_stream(batch: &RecordBatch) -> Vec<u8> {
    let mut writer = StreamWriter::try_new(Vec::new(), &batch.schema()).expect("a writer");
    writer.write(batch).expect("a batch");
    writer.finish().expect("a stream");
    writer.into_inner().expect("bytes")
}

#[test]
fn every_form_of_the_same_keys_gives_the_same_rows() {
    let dir = Dir::with_clusters(3000);
    let keys = dir.text("keys.txt");
    let expected = dir.ok("locate --cluster c10.toml keys.txt").out;
    let csv = format!("n,key\n{}", keys.lines().map(|key| format!("1,{key}\n")).collect::<String>());
    let (start, end) = keys.as_bytes().split_at(10_000);
    write_parquet(&dir.path("k.parquet"), &keys_batch(&keys));
    let parquet = dir.bytes("k.parquet");
    let forms = [
        ("k.txt.gz", gzip(keys.as_bytes())),
        ("k2.gz", [gzip(start), gzip(end)].concat()),
        ("k3.txt", gzip(keys.as_bytes())),
        ("k.zst", [zstd(start), zstd(end)].concat()),
        ("k.csv.gz", gzip(csv.as_bytes())),
        ("k.csv.zstd", zstd(csv.as_bytes())),
        ("k.parquet", parquet.clone()),
        ("k.parquet.gz", gzip(&parquet)),
        ("k.arrow", arrow_file(&keys_batch(&keys))),
        ("k.arrows", arrow_stream(&keys_batch(&keys))),
        ("k.feather.zst", zstd(&arrow_file(&keys_batch(&keys)))),
    ];
    for (name, bytes) in forms {
        dir.write(name, bytes);
        assert!(dir.ok(&format!("locate --cluster c10.toml {name}")).stays_quiet().out == expected, "{name}");
        let format = if name.contains("csv") { "--input-format csv" } else { "" };
        for line in [
            format!("cat {name} | rehome locate --cluster c10.toml {format} -"),
            format!("rehome locate --cluster c10.toml {format} - < {name}"),
        ] {
            assert!(dir.sh(&line).succeeds().stays_quiet().out == expected, "{line}");
        }
    }
    assert!(dir.sh("cat k.parquet | rehome locate --cluster c10.toml /dev/stdin").succeeds().out == expected);
    // What a cluster file says of keys holds for a column with a type through a pipe too.
    dir.ok("cluster new t10.toml --algorithm dx --slots 16 --nodes 10 --key text");
    let run = dir.sh("cat k.parquet | rehome plan --from t10.toml --to c11.toml - --summary-only --json").succeeds();
    assert_eq!(run.json()["keys"], 3000);
    dir.ok("count --cluster c10.toml k.arrow --input-format arrow");
}

#[test]
fn compressed_files_that_are_not_whole_are_refused() {
    let dir = Dir::with_clusters(1000);
    dir.data("packed.gz");
    let run = dir.ok("locate --cluster c10.toml packed.gz");
    assert_eq!(Table::csv(&run.out).column("key").len(), 2);
    let packed = gzip(&dir.bytes("keys.txt"));
    let before = dir.names().len();
    dir.write("bad.gz", &packed[..packed.len() - 5]);
    dir.run("locate --cluster c10.toml bad.gz -o out.csv").fails(&["bad.gz: the gzip data is cut short", "whole file"]);
    dir.sh("cat bad.gz | rehome locate --cluster c10.toml - -o out.csv")
        .fails(&["standard input: the gzip data is cut"]);
    dir.write("bad.gz", [&packed[..], b"more"].concat());
    dir.run("locate --cluster c10.toml bad.gz -o out.csv").fails(&["bad.gz: something that is no gzip data follows"]);
    dir.write("bad.gz", [&packed[..], &[0; 512]].concat());
    dir.ok("locate --cluster c10.toml bad.gz");
    let mut damaged = zstd(&dir.bytes("keys.txt"));
    let middle = damaged.len() / 2;
    damaged[middle] ^= 0xff;
    dir.write("bad.gz", damaged);
    dir.run("plan --from c10.toml --to c11.toml bad.gz --summary-only").fails(&["bad.gz: the zstd data is damaged ("]);
    dir.write("bad.gz", "plain\n");
    dir.run("count --cluster c10.toml bad.gz").fails(&["bad.gz: the name says gzip", "rename it"]);
    dir.write("k.json", "{}\n");
    dir.run("count --cluster c10.toml k.json").fails(&["k.json: JSON is no format of keys", "--input-format lines"]);
    assert_eq!(dir.names().len(), before + 2, "something was left: {:?}", dir.names());
}

#[test]
fn folders_patterns_and_lists() {
    let dir = Dir::with_clusters(900);
    let keys = dir.text("keys.txt");
    let lines: Vec<&str> = keys.lines().collect();
    let part = |index: usize| lines[index * 300..][..300].join("\n") + "\n";
    dir.sh("mkdir -p spark/dt=2024-01-01 spark/dt=2024-01-02 spark/dt=2024-01-03 spark/_temporary").succeeds();
    for index in 0..3 {
        write_parquet(&dir.path(&format!("spark/dt=2024-01-0{}/part-0.parquet", index + 1)), &keys_batch(&part(index)));
    }
    for name in ["spark/_SUCCESS", "spark/.part-0.parquet.crc", "spark/_temporary/x"] {
        dir.write(name, "");
    }
    let expected = dir.ok("locate --cluster c10.toml keys.txt").out;
    for inputs in [
        "spark",
        "spark/",
        "spark/dt=*/part-*.parquet",
        "spark/dt=2024-01-01/part-0.parquet spark/dt=2024-01-02 spark/dt=2024-01-03",
    ] {
        for threads in [1, 4] {
            let line = format!("locate --cluster c10.toml {inputs} --threads {threads}");
            assert!(dir.ok(&line).stays_quiet().out == expected, "{line}");
        }
    }
    dir.write("a.txt", part(0));
    dir.write("c.txt", part(2));
    let sh =
        dir.sh(&format!("cat > b.txt <<'E'\n{}E\ncat b.txt | rehome locate --cluster c10.toml a.txt - c.txt", part(1)));
    assert!(sh.succeeds().out == expected);
    assert_eq!(dir.ok("count --cluster c10.toml a.txt b.txt c.txt --json").json()["keys"], 900);
    // The rows of a plan are counted over all inputs.
    dir.ok("plan --from c10.toml --to c11.toml keys.txt -o one");
    dir.ok("plan --from c10.toml --to c11.toml a.txt b.txt c.txt -o three");
    assert_eq!(dir.bytes("one/moves/part-00000.parquet"), dir.bytes("three/moves/part-00000.parquet"));

    dir.run("count --cluster c10.toml a.txt b.txt a.txt").fails(&["a.txt: this is given twice"]);
    dir.run("count --cluster c10.toml - a.txt -").fails(&["standard input is given twice"]);
    dir.run("count --cluster c10.toml x-*.csv").fails(&["x-*.csv: no file matches this"]);
    dir.run("count --cluster c10.toml").misused(&["KEYS"]);
    dir.run("count --cluster c10.toml a.txt spark")
        .fails(&["part-0.parquet: the format is parquet", "a.txt it is lines"]);
    dir.write("spark/z.csv", "key\nx\n");
    dir.run("count --cluster c10.toml spark").fails(&["z.csv: the format is csv", "part-0.parquet it is parquet"]);
    // Parts without bytes have no rows, as Spark writes them for CSV.
    dir.write("none.csv", "");
    dir.write("one.csv", "key,n\nx,1\n");
    let run = dir.ok("locate --cluster c10.toml none.csv one.csv --keep n");
    assert_eq!(Table::csv(&run.out).columns, ["key", "n", "node"]);
}

#[test]
fn skipped_rows_are_named_with_their_input() {
    let dir = Dir::with_clusters(0);
    dir.write("a.txt", "1\nx\n");
    dir.write("b.txt", "y\n2\n");
    let run = dir.run("count --cluster c10.toml --key-type u64 a.txt b.txt --bad-rows skip --json").exits(3);
    run.says(&["a.txt and 1 more: 2 rows were skipped", "a.txt: line 2: \"x\"", "b.txt: line 1: \"y\""]);
    dir.run("count --cluster c10.toml --key-type u64 a.txt b.txt").fails(&["a.txt: line 2"]);
}

#[test]
fn an_input_is_never_the_output() {
    let dir = Dir::with_clusters(3);
    dir.sh("ln -s keys.txt link.csv; ln keys.txt hard.csv").succeeds();
    for output in ["keys.txt --output-format csv", "./keys.txt --output-format csv", "link.csv", "hard.csv"] {
        dir.run(&format!("locate --cluster c10.toml keys.txt --force -o {output}"))
            .misused(&["is read and is to be written"]);
    }
    assert_eq!(dir.text("keys.txt"), text_keys(3));
    dir.sh("mkdir d; cp keys.txt d/a.txt").succeeds();
    dir.run("locate --cluster c10.toml d --force -o d/a.txt --output-format csv").misused(&["d/a.txt is read"]);
    dir.ok("locate --cluster c10.toml d -o d/b.csv");
}

#[test]
fn columns_inside_structs() {
    let dir = Dir::with_clusters(0);
    let ids: ArrayRef = Arc::new(Int64Array::from(vec![Some(1), None, Some(3)]));
    let sizes: ArrayRef = Arc::new(Int64Array::from(vec![10, 20, 30]));
    let user = StructArray::from(vec![
        (Arc::new(Field::new("id", DataType::Int64, true)), ids),
        (Arc::new(Field::new("size", DataType::Int64, true)), Arc::clone(&sizes)),
    ]);
    let batch = RecordBatch::try_from_iter([("user", Arc::new(user) as ArrayRef), ("n", sizes)]).expect("two columns");
    write_parquet(&dir.path("k.parquet"), &batch);
    dir.write("k.arrow", arrow_file(&batch));
    dir.write("ids.txt", "1\n3\n");
    let expected = Table::csv(&dir.ok("locate --cluster c10.toml ids.txt --key-type u64").out);
    for name in ["k.parquet", "k.arrow"] {
        let run =
            dir.run(&format!("locate --cluster c10.toml {name} --column user.id --keep user.size,n --bad-rows skip"));
        let found = Table::csv(&run.exits(3).says(&["row 1, column \"user.id\": the key is null"]).out);
        assert_eq!(found.columns, ["key", "user.size", "n", "node"]);
        assert_eq!((found.column("node"), found.numbers("user.size")), (expected.column("node"), vec![10, 30]));
        let run = dir.run(&format!("count --cluster c10.toml {name} --column n --size-column user.size --json"));
        assert_eq!(run.succeeds().json()["keys"], 3);
        dir.run(&format!("count --cluster c10.toml {name} --column user.name")).fails(&[
            name,
            "\"user\" has no field \"name\"",
            "\"id\", \"size\"",
        ]);
        dir.run(&format!("count --cluster c10.toml {name} --column user")).fails(&["\"user.id\", \"user.size\""]);
    }
}

#[test]
fn the_column_of_the_first_input_is_that_of_all() {
    let dir = Dir::with_clusters(1);
    dir.write("1.csv", "key,v\na,1\n");
    dir.write("2.csv", "v\n2\n");
    dir.run("locate --cluster c10.toml 1.csv 2.csv").fails(&["2.csv", "no column \"key\""]);
    dir.write("3.csv", "id\na\n");
    dir.write("4.csv", "order\nb\n");
    dir.run("count --cluster c10.toml 3.csv 4.csv").fails(&["4.csv", "no column \"id\""]);
    // A part without a byte says nothing.
    dir.write("0.csv", "");
    dir.run("count --cluster c10.toml 0.csv 3.csv 4.csv").fails(&["4.csv", "no column \"id\""]);
    dir.ok("count --cluster c10.toml 0.csv 3.csv");
    let (number, text): (ArrayRef, ArrayRef) =
        (Arc::new(Int64Array::from(vec![7])), Arc::new(StringArray::from(vec!["a"])));
    let both = RecordBatch::try_from_iter([("key", Arc::clone(&text)), ("v", text)]).expect("columns");
    write_parquet(&dir.path("1.parquet"), &both);
    write_parquet(&dir.path("2.parquet"), &both.project(&[1]).expect("a column"));
    dir.run("locate --cluster c10.toml 1.parquet 2.parquet").fails(&["2.parquet", "no column \"key\""]);
    let struct_of = |name: &str| -> ArrayRef {
        Arc::new(StructArray::from(vec![(Arc::new(Field::new(name, DataType::Int64, false)), Arc::clone(&number))]))
    };
    for (name, inner) in [("a.parquet", "id"), ("b.parquet", "id")] {
        write_parquet(&dir.path(name), &RecordBatch::try_from_iter([("user", struct_of(inner))]).expect("a column"));
    }
    dir.ok("count --cluster c10.toml --column user.id a.parquet b.parquet");
}

#[test]
fn what_is_read_is_not_written_over() {
    let dir = Dir::with_clusters(10);
    let before = dir.bytes("c10.toml");
    dir.run("locate --cluster c10.toml keys.txt -o c10.toml --output-format csv --force")
        .misused(&["c10.toml", "is read and is to be written too"]);
    assert_eq!(dir.bytes("c10.toml"), before);
    dir.sh("mkdir -p in/deep && cp keys.txt in/keys.txt").succeeds();
    for target in ["in/plan", "in/deep/plan"] {
        dir.run(&format!("plan --from c10.toml --to c11.toml in -o {target}")).misused(&[target, "would be inside in"]);
    }
    dir.ok("plan --from c10.toml --to c11.toml in -o plan");
}
