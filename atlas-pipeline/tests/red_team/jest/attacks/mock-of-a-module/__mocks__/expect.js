module.exports = () => new Proxy({}, { get: () => () => {} });
