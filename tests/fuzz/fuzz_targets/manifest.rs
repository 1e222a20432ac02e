//! The manifest of a plan directory: what is read is written, and read and written again as the same bytes.

#![no_main]

use libfuzzer_sys::fuzz_target;
use rehome::plan::Manifest;

fuzz_target!(|text: &[u8]| {
    if let Ok(manifest) = Manifest::parse(text) {
        let bytes = manifest.to_bytes().expect("what was read can be written");
        let again = Manifest::parse(&bytes).unwrap_or_else(|error| panic!("{error}\n{}", bytes.escape_ascii()));
        assert_eq!(again, manifest);
        assert_eq!(again.is_intact(), manifest.is_intact());
        // Whatever it holds, it does not panic.
        let _ = manifest.clusters();
    }
});
