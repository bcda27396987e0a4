module.exports = { paths: ['other'] };
