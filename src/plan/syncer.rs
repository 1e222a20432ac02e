//! Files are put on the disk on a thread of its own, so that the next part does not wait for the disk.

use std::fs::File;
use std::io;
use std::path::PathBuf;
use std::sync::mpsc::{SyncSender, sync_channel};
use std::thread::{JoinHandle, spawn};

use crate::error::{Error, Result};

/// Files that may wait: a disk that is slower than the run holds it up in the end.
const WAITING: usize = 8;

/// Puts files on the disk, one after the other.
#[derive(Debug)]
pub(super) struct Syncer {
    files: SyncSender<(File, PathBuf)>,
    thread: JoinHandle<Result<()>>,
}

impl Syncer {
    pub(super) fn start() -> Self {
        let (files, waiting) = sync_channel::<(File, PathBuf)>(WAITING);
        let thread = spawn(move || {
            waiting
                .into_iter()
                .try_for_each(|(file, path)| file.sync_all().map_err(|error| Error::io("write", path, error)))
        });
        Self { files, thread }
    }

    /// Hands a file over. That one before it could not be put on the disk is told by [`finish`](Self::finish).
    pub(super) fn push(&self, file: File, path: PathBuf) {
        // The thread is gone only after an error, which is kept for the end.
        let _ = self.files.send((file, path));
    }

    /// Waits until all files are on the disk.
    pub(super) fn finish(self) -> Result<()> {
        let Self { files, thread } = self;
        drop(files);
        thread
            .join()
            .unwrap_or_else(|_| Err(Error::io("write", "the plan", io::Error::other("the disk's thread is gone"))))
    }
}
