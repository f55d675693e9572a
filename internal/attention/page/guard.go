package page

import (
	"errors"
	"net"
	"net/http"
	"net/netip"
	"strings"
)

// secured adds the headers that keep the page out of other sites' frames and caches, and refuses requests that another
// site's page sends: a browser names the origin of every POST.
func secured(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("Referrer-Policy", "same-origin")
		h.Set("Cross-Origin-Resource-Policy", "same-origin")
		h.Set("Content-Security-Policy", "frame-ancestors 'none'")
		h.Set("Cache-Control", "no-store")
		if r.Method == http.MethodPost && !sameOrigin(r) {
			fail(w, http.StatusForbidden, errors.New("the request comes from another site"))
			return
		}
		next.ServeHTTP(w, r)
	})
}

// sameOrigin believes the two headers that scripts cannot set. A client that sends neither is no browser.
func sameOrigin(r *http.Request) bool {
	if site := r.Header.Get("Sec-Fetch-Site"); site != "" && site != "same-origin" {
		return false
	}
	origin := r.Header.Get("Origin")
	return origin == "" || strings.EqualFold(origin, "http://"+r.Host)
}

// checkHost refuses requests whose Host header is neither a loopback name nor the host that the server was told to
// listen on. Without it, a site whose name suddenly resolves to 127.0.0.1 could read the answers (DNS rebinding).
func checkHost(listen string, next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !allowedHost(hostOnly(r.Host), listen) {
			fail(w, http.StatusForbidden, errors.New("unexpected Host header"))
			return
		}
		next.ServeHTTP(w, r)
	})
}

func allowedHost(host, listen string) bool {
	if strings.EqualFold(host, "localhost") || strings.EqualFold(host, listen) {
		return true
	}
	ip, err := netip.ParseAddr(host)
	if err != nil {
		return false
	}
	// Every interface was asked for, and an address cannot be rebound: only a name can.
	interfaces, err := netip.ParseAddr(listen)
	return ip.IsLoopback() || err == nil && interfaces.IsUnspecified()
}

// hostOnly is a Host header without its port and brackets.
func hostOnly(hostport string) string {
	if host, _, err := net.SplitHostPort(hostport); err == nil {
		return host
	}
	return strings.Trim(hostport, "[]")
}
