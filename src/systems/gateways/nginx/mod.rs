//! NGINX: `nginx.conf` and the files that it includes.

mod include;
mod policy;
mod upstream;
mod walk;

use self::include::Files;
use self::upstream::Upstreams;
use self::walk::Walk;
use crate::facts::Facts;
use crate::syntax::Syntax;
use crate::systems::{DefaultFigure, System, SystemMeta, Unit, Versions};

/// NGINX.
pub struct Nginx;

const ID: &str = "nginx";
const UPSTREAM: &str = "nginx/nginx src/http/ngx_http_upstream.c";
const PEERS: &str = "nginx/nginx src/http/ngx_http_upstream_round_robin.c";
const PROXY: &str = "nginx/nginx src/http/modules/ngx_http_proxy_module.c";
const STREAM: &str = "nginx/nginx src/stream/ngx_stream_proxy_module.c";

static META: SystemMeta = SystemMeta {
    id: ID,
    name: "NGINX",
    reads: "`nginx.conf` and what it includes: `*_next_upstream*` of proxy, fastcgi, uwsgi, scgi, grpc, memcached and \
            stream, with the servers of the upstreams",
    marks: &["proxy_pass", "fastcgi_pass", "uwsgi_pass", "scgi_pass", "grpc_pass", "memcached_pass", "next_upstream"],
    defaults: &[
        DefaultFigure {
            what: "proxy_next_upstream_tries absent or 0",
            value: "as many attempts as the upstream has servers, at once",
            source: PEERS,
        },
        DefaultFigure {
            what: "proxy_next_upstream_tries",
            value: "counts tries, the first one included; never more than there are servers",
            source: PEERS,
        },
        DefaultFigure { what: "an upstream of one server", value: "1 attempt, whatever is written", source: PEERS },
        DefaultFigure { what: "server ... down", value: "is no server; one that is `backup` is", source: PEERS },
        DefaultFigure { what: "proxy_next_upstream absent", value: "`error timeout`: no HTTP status", source: PROXY },
        DefaultFigure {
            what: "without non_idempotent",
            value: "POST, LOCK and PATCH are not sent again once sent",
            source: UPSTREAM,
        },
        DefaultFigure {
            what: "proxy_next_upstream_timeout absent or 0",
            value: "no limit on all tries",
            source: PROXY,
        },
        DefaultFigure { what: "proxy_read_timeout absent", value: "60 s for each try", source: PROXY },
        DefaultFigure { what: "Retry-After", value: "ignored; there is no such setting", source: UPSTREAM },
        DefaultFigure {
            what: "stream: proxy_next_upstream absent",
            value: "on: connections that fail, on each server once",
            source: STREAM,
        },
    ],
};

impl System for Nginx {
    fn meta(&self) -> &'static SystemMeta {
        &META
    }

    fn extract(&self, unit: &Unit<'_>, _: &Versions, facts: &mut Facts) {
        let mine = unit.parts.iter().filter(|part| Syntax::of_path(part.name) == Some(Syntax::Nginx));
        let files = Files::new(mine);
        if files.is_empty() {
            return;
        }
        let upstreams = Upstreams::new(&files);
        Walk::new(&files, &upstreams).run(facts);
    }

    fn unit_of(&self, path: &str) -> Option<String> {
        (Syntax::of_path(path) == Some(Syntax::Nginx)).then(|| format!("{ID}:{}", include::prefix(path)))
    }
}
