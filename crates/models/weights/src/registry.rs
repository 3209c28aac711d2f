//! Finds the URL of an archive in a package registry.

use reqwest::{Client, Url};
use serde::Deserialize;

use crate::download::host_name;
use crate::error::SourceError;
use crate::manifest::{PackageRegistry, RegistryPackage};

/// The file list of a package is usually a few kilobytes; some have thousands of versions.
const INDEX_BYTES_MAX: usize = 16 * 1024 * 1024;

/// The registries that this machine uses. They are the operator's choice, so no URL is hard-coded.
#[derive(Debug, Clone, Default)]
pub struct PackageRegistries {
    /// A Python package index, as in `PIP_INDEX_URL`.
    pub python: Option<Url>,
    /// A Node package registry, as printed by `npm config get registry`.
    pub npm: Option<Url>,
}

impl PackageRegistries {
    pub(crate) async fn locate_package(
        &self,
        client: &Client,
        package: &RegistryPackage,
    ) -> Result<Url, SourceError> {
        match package.registry {
            PackageRegistry::Python => {
                let index =
                    self.python.as_ref().ok_or_else(|| SourceError::Source(NO_PYTHON.into()))?;
                find_in_index(client, index, package).await
            }
            PackageRegistry::Npm => {
                let registry =
                    self.npm.as_ref().ok_or_else(|| SourceError::Source(NO_NPM.into()))?;
                append_path(registry, &format!("{}/-/{}", package.name, package.archive))
            }
        }
    }
}

const NO_PYTHON: &str = "no Python package index is known: set PIP_INDEX_URL, or \
                         `python_index_url` in [engine]";
const NO_NPM: &str = "no Node package registry is known: set npm_config_registry, or \
                      `npm_registry_url` in [engine]";

/// Looks up an archive in pip's "simple" index, in its JSON or HTML form.
async fn find_in_index(
    client: &Client,
    index: &Url,
    package: &RegistryPackage,
) -> Result<Url, SourceError> {
    let page = append_path(index, &format!("{}/", package.name))?;
    let accept = "application/vnd.pypi.simple.v1+json, text/html;q=0.5";
    let request = client.get(page.clone()).header("accept", accept);
    let unreachable =
        |_| SourceError::Unreachable(format!("{} cannot be reached", host_name(&page)));
    let mut response = request.send().await.map_err(unreachable)?;
    if !response.status().is_success() {
        let message =
            format!("{} answers {} for {}", host_name(&page), response.status(), package.name);
        return Err(SourceError::Source(message));
    }
    // Links are relative to the page's final URL.
    let page = response.url().clone();
    let mut body = Vec::new();
    let broken = |_| SourceError::Source(format!("{} broke off", host_name(&page)));
    while let Some(piece) = response.chunk().await.map_err(broken)? {
        if INDEX_BYTES_MAX < body.len() + piece.len() {
            return Err(SourceError::Source(format!("the index of {} is too long", package.name)));
        }
        body.extend_from_slice(&piece);
    }
    let link = find_link(&String::from_utf8_lossy(&body), &package.archive);
    let found = link.and_then(|link| page.join(&link).ok());
    let found = found.ok_or_else(|| {
        SourceError::Source(format!("{} does not have {}", host_name(&page), package.archive))
    })?;
    Ok(with_login_of(index, found))
}

fn find_link(page: &str, archive: &str) -> Option<String> {
    if let Ok(listed) = serde_json::from_str::<IndexListing>(page) {
        return listed.files.into_iter().find(|file| file.filename == archive).map(|it| it.url);
    }
    let links = page.split("href=").skip(1).filter_map(|rest| {
        let quote = rest.chars().next().filter(|letter| matches!(letter, '"' | '\''))?;
        rest[1..].split(quote).next()
    });
    let is_it = |link: &&str| {
        let plain = link.split(['#', '?']).next().unwrap_or_default();
        plain.rsplit('/').next() == Some(archive)
    };
    links.into_iter().find(is_it).map(|link| link.replace("&amp;", "&"))
}

#[derive(Deserialize)]
struct IndexListing {
    files: Vec<IndexFile>,
}

#[derive(Deserialize)]
struct IndexFile {
    filename: String,
    url: String,
}

fn append_path(base: &Url, path: &str) -> Result<Url, SourceError> {
    let text = format!("{}/{path}", base.as_str().trim_end_matches('/'));
    Url::parse(&text).map_err(|_| SourceError::Source(format!("{} is no address", host_name(base))))
}

/// Applies the index's credentials to its files.
fn with_login_of(index: &Url, mut link: Url) -> Url {
    if link.host_str() == index.host_str() && link.username().is_empty() {
        // Neither call fails for a URL with a host.
        let _ = link.set_username(index.username());
        let _ = link.set_password(index.password());
    }
    link
}

#[cfg(test)]
pub(crate) mod tests;
