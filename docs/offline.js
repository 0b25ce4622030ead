// Answers from the cache of the playground where there is no network. Registered once a program has run in a page.
addEventListener("install", () => skipWaiting());
addEventListener("activate", (event) => event.waitUntil(clients.claim()));
addEventListener("fetch", (event) => {
  const { request } = event;
  if (request.method === "GET" && request.url.startsWith(location.origin))
    event.respondWith(
      fetch(request).catch(async () => (await caches.match(request, { ignoreSearch: true })) ?? Response.error()),
    );
});
