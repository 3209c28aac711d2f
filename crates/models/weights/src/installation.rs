//! Locations of model files.

use std::path::{Path, PathBuf};

use crate::digest::{FingerprintHasher, hash_file};
use crate::manifest::{FileSpec, embedded_manifest};

/// The folder of a model, existing or not.
pub fn model_folder(models_dir: &Path, id: &str) -> PathBuf {
    models_dir.join(id)
}

/// The folder of a model if all its files and dependencies are present.
///
/// A file gets its name only after its hash was checked, so checking its size is enough here.
pub fn find_installed_model(models_dir: &Path, id: &str) -> Result<PathBuf, ModelUnavailable> {
    let entries = embedded_manifest().with_needs(id);
    if entries.is_empty() {
        return Err(ModelUnavailable::Unknown { id: id.to_owned() });
    }
    for entry in entries {
        let folder = model_folder(models_dir, &entry.id);
        let absent = entry.files.iter().find(|file| !is_file_present(&folder, file));
        if let Some(file) = absent {
            let file = file.name.clone();
            return Err(ModelUnavailable::NotFetched { id: entry.id.clone(), file });
        }
        if entry.files.is_empty() && !entry.in_program {
            return Err(ModelUnavailable::Platform { id: entry.id.clone() });
        }
    }
    Ok(model_folder(models_dir, id))
}

/// As `installed`, but verifies the hashes again: for files that are executed as code.
pub fn verify_installed_model(models_dir: &Path, id: &str) -> Result<PathBuf, ModelUnavailable> {
    let folder = find_installed_model(models_dir, id)?;
    let files = embedded_manifest().find_model(id).into_iter().flat_map(|entry| &entry.files);
    for file in files {
        let mut fingerprinter = FingerprintHasher::default();
        let read = hash_file(&folder.join(&file.name), &mut fingerprinter);
        if read.is_err() || fingerprinter.finish().sha256 != file.sha256 {
            return Err(ModelUnavailable::Altered { id: id.to_owned(), file: file.name.clone() });
        }
    }
    Ok(folder)
}

pub(crate) fn is_file_present(folder: &Path, file: &FileSpec) -> bool {
    std::fs::metadata(folder.join(&file.name))
        .is_ok_and(|found| found.is_file() && found.len() == file.bytes)
}

/// The reason why a model cannot be loaded.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ModelUnavailable {
    #[error("there is no built-in model {id}; `tollgate models list` lists the available ones")]
    Unknown { id: String },
    #[error("{id} is not downloaded yet ({file} is missing); run `tollgate models pull {id}`")]
    NotFetched { id: String, file: String },
    #[error("{id} is not published for this platform")]
    Platform { id: String },
    #[error(
        "{file} of {id} is not the file that was fetched; remove it and run `tollgate models pull \
         {id}`"
    )]
    Altered { id: String, file: String },
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Creates sparse files of the right size.
    fn place(models_dir: &Path, id: &str) {
        for entry in embedded_manifest().with_needs(id) {
            for file in &entry.files {
                let path = model_folder(models_dir, &entry.id).join(&file.name);
                std::fs::create_dir_all(path.parent().unwrap()).unwrap();
                std::fs::File::create(path).unwrap().set_len(file.bytes).unwrap();
            }
        }
    }

    #[test]
    fn a_model_is_installed_when_all_its_files_are_there() {
        let models_dir = tempfile::tempdir().unwrap();
        place(models_dir.path(), "smollm2-135m");
        let folder = models_dir.path().join("smollm2-135m");
        assert_eq!(find_installed_model(models_dir.path(), "smollm2-135m"), Ok(folder));
    }

    #[test]
    fn a_short_file_is_a_missing_one() {
        let models_dir = tempfile::tempdir().unwrap();
        place(models_dir.path(), "smollm2-135m");
        let name = "SmolLM2-135M-Instruct.Q4_1.gguf".to_owned();
        let path = models_dir.path().join("smollm2-135m").join(&name);
        std::fs::File::options().write(true).open(path).unwrap().set_len(1).unwrap();
        let missing = ModelUnavailable::NotFetched { id: "smollm2-135m".to_owned(), file: name };
        assert_eq!(find_installed_model(models_dir.path(), "smollm2-135m"), Err(missing));
    }

    #[test]
    fn a_model_is_missing_what_it_needs() {
        let models_dir = tempfile::tempdir().unwrap();
        place(models_dir.path(), "moonshine-tiny");
        assert!(find_installed_model(models_dir.path(), "moonshine-tiny").is_ok());
        std::fs::remove_dir_all(models_dir.path().join("onnxruntime")).unwrap();
        let missing = find_installed_model(models_dir.path(), "moonshine-tiny").unwrap_err();
        assert!(matches!(missing, ModelUnavailable::NotFetched { id, .. } if id == "onnxruntime"));
    }

    #[test]
    fn a_library_with_other_bytes_of_the_same_size_is_not_run() {
        let models_dir = tempfile::tempdir().unwrap();
        place(models_dir.path(), "llama-cpp");
        assert!(find_installed_model(models_dir.path(), "llama-cpp").is_ok());
        let altered = verify_installed_model(models_dir.path(), "llama-cpp").unwrap_err();
        assert!(matches!(altered, ModelUnavailable::Altered { id, .. } if id == "llama-cpp"));
    }

    #[test]
    fn an_unknown_model_says_where_to_look() {
        let missing = find_installed_model(Path::new("/nowhere"), "gpt-5").unwrap_err();
        assert_eq!(missing, ModelUnavailable::Unknown { id: "gpt-5".to_owned() });
    }
}
