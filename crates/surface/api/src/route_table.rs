//! A router that lists its own paths, so that tests can call every route.

use axum::Router;
use axum::routing::MethodRouter;

/// The routes of a listener. Layers and fallbacks are added to the resulting router.
pub(crate) struct RouteTable<S> {
    router: Router<S>,
    paths: Vec<String>,
}

impl<S: Clone + Send + Sync + 'static> RouteTable<S> {
    pub(crate) fn new() -> RouteTable<S> {
        RouteTable { router: Router::new(), paths: Vec::new() }
    }

    pub(crate) fn route(mut self, path: &str, methods: MethodRouter<S>) -> RouteTable<S> {
        // Several endpoints may share a path, with different methods.
        if self.paths.iter().all(|known| known != path) {
            self.paths.push(path.to_owned());
        }
        RouteTable { router: self.router.route(path, methods), paths: self.paths }
    }

    pub(crate) fn merge(mut self, other: RouteTable<S>) -> RouteTable<S> {
        self.paths.extend(other.paths);
        RouteTable { router: self.router.merge(other.router), paths: self.paths }
    }

    /// The paths with their placeholders, as declared.
    pub(crate) fn into_paths(self) -> Vec<String> {
        self.paths
    }

    pub(crate) fn into_router(self) -> Router<S> {
        self.router
    }
}
