export default [{ test: { name: 'easy', include: ['easy/*.test.js'] } }];
